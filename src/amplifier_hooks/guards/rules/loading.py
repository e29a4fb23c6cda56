"""The options of hooks-rules, reading the rules that they name, and mounting it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.guards.policy.tool_calls import (
    ARGUMENT_KEYS,
    COMMAND_KEYS,
    FILE_KEYS,
    ORIGINS,
    PATH_KEYS,
)
from amplifier_hooks.guards.policy.unread_tools import offer_reader
from amplifier_hooks.guards.rules.engine import (
    Engine,
    LoadedRule,
    RuleSet,
    load_rule,
    make_view_factory,
)
from amplifier_hooks.guards.rules.rule import OnError, Rule
from amplifier_hooks.machine.files import Snapshot, read_regular
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import combine_removals, get_base_dir, register_guards

NAME = "hooks-rules"
Read = Callable[[Path], bytes]


class Config(BaseModel):
    """The options of hooks-rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: list[dict[str, Any]] = Field(default_factory=list)
    file: str | list[str] = Field(default_factory=list)
    dry_run: bool = False
    on_error: OnError = "deny"
    unclear: OnError = "ask_user"
    path_keys: list[str] = Field(default_factory=lambda: list(PATH_KEYS))
    command_keys: list[str] = Field(default_factory=lambda: ["command"])
    priority: int = 900
    timeout: float = Field(10.0, gt=0, allow_inf_nan=False)


def read_file(path: Path, read: Read = read_regular) -> list[dict[str, Any]]:
    """The rules of a YAML file: a list, or a mapping with `rules`; `read` gets its bytes."""
    import yaml  # here, because a guard without a file of rules needs none

    try:
        content = yaml.load(read(path).decode(), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as failure:
        raise ModuleLoadError(f"{NAME}: the rules file {path} cannot be read: {failure}") from None
    except (yaml.YAMLError, ValueError) as wrong:  # such as a 13th month
        where = getattr(wrong, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        what = getattr(wrong, "problem", None) or wrong
        raise ModuleLoadError(f"{NAME}: the rules file {path}{line} is not YAML: {what}") from None
    rules = content.get("rules") if isinstance(content, dict) else content
    if not isinstance(rules, list):
        raise ModuleLoadError(f"{NAME}: the rules file {path} has no list of rules")
    return rules


class ReadRule(NamedTuple):
    """A rule, what to call it in an error, and the way to it in the options."""

    rule: Rule
    owner: str
    option: tuple[str | int, ...]

    def load(self, base: Path) -> LoadedRule:
        """Compile it."""
        with _at(self.option):
            return load_rule(self.rule, base, self.owner)


@contextmanager
def _at(option: tuple[str | int, ...]) -> Iterator[None]:
    """Errors of a rule have its place in the options, so that they are told with its line."""
    try:
        yield
    except ModuleLoadError as wrong:
        wrong.option = (*option, *wrong.option)
        raise


def _parse_rules(
    entries: list[Any], file: Path | None = None, lines: Mapping[str, int] | None = None
) -> Iterator[ReadRule]:
    """The rules of the options, or of a file."""
    for number, entry in enumerate(entries, 1):
        named = entry.get("name") if isinstance(entry, dict) else None
        owner = f"{NAME}: rule {named!r}" if named else f"{NAME}: rule number {number}"
        option: tuple[str | int, ...] = ("rules", number - 1)
        if file is not None:
            line = (lines or {}).get(str(named or f"rule-{number}"))
            owner += f" in {file.name}:{line}" if line else f" in {file.name}"
            option = ("file",)
        with _at(option):
            if not isinstance(entry, dict):
                raise ModuleLoadError(f"{owner}: must be a mapping with 'name' and 'action'")
            rule = parse_config(Rule, {"name": f"rule-{number}", **entry}, owner)
        yield ReadRule(rule, owner, option)


def list_files(config: Config, base: Path) -> list[Path]:
    """The files of rules that the options name."""
    files = [config.file] if isinstance(config.file, str) else config.file
    return [base / Path(name).expanduser() for name in files]


def read_entry_files(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    """Read the files that an entry with these options names into a snapshot."""
    for path in list_files(Config.model_validate(config), folder):
        if path.is_file():
            snapshot.read(path)
            yield path


def read_rules(config: Config, base: Path, read: Read = read_regular) -> list[ReadRule]:
    """The rules that are switched on, of the options and of the files that they name."""
    rules = list(_parse_rules(config.rules))
    for path in list_files(config, base):
        from amplifier_hooks.guards.rules.rule_lines import find_rule_lines

        entries = read_file(path, read)
        rules += _parse_rules(entries, path, find_rule_lines(read(path).decode()))
    _refuse_twins(rules)
    return [one for one in rules if one.rule.enabled]


def _refuse_twins(rules: list[ReadRule]) -> None:
    seen: set[str] = set()
    for rule, _, option in rules:
        with _at(option):
            if rule.name in seen:
                raise ModuleLoadError(
                    f"{NAME}: there are two rules named {rule.name!r}; rename one"
                )
        seen.add(rule.name)


_ORDER = ("modify", "deny", "ask_user", "inject_context", "continue")
"""Changes first, so that the others judge what will run."""


def _load_rules(config: Config, base: Path, read: Read) -> list[LoadedRule]:
    return [one.load(base) for one in read_rules(config, base, read)]


def _list_events(rules: RuleSet) -> list[str]:
    """What to register for: everything as soon as one rule has a pattern, else each event once."""
    names = dict.fromkeys(event for loaded in rules for event in loaded.events)
    return ["*"] if any("*" in name or "?" in name for name in names) else list(names)


def _offer_reader(coordinator: Host, settings: Config, rules: list[LoadedRule]) -> None:
    """Say which inputs the rules read, and which tools they name."""
    keys: list[str] = []
    if any(one.rule.path is not None for one in rules):
        keys += [*settings.path_keys, *FILE_KEYS]
    if any(one.rule.command is not None for one in rules):
        keys += [*settings.command_keys, *COMMAND_KEYS, *ARGUMENT_KEYS]
    offer_reader(coordinator, NAME, keys, lambda tool: any(one.describes(tool) for one in rules))


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Load the rules, all of them or none, and begin to apply them."""
    settings = parse_config(Config, config, NAME)
    if not {"rules", "file"} & settings.model_fields_set:
        raise ModuleLoadError(f"{NAME}: give 'rules' (written here) or 'file' (one or several)")
    base = get_base_dir(coordinator)
    # What a person has allowed is what is loaded, not what the file has become since.
    snapshot: Snapshot | None = coordinator.get_capability("session.snapshot")
    read = Path.read_bytes if snapshot is None else snapshot.read
    loaded = await asyncio.to_thread(_load_rules, settings, base, read)
    make = make_view_factory(
        base,
        tuple(settings.path_keys),
        tuple(settings.command_keys),
        lambda: coordinator.get_capability(ORIGINS),
    )
    _offer_reader(coordinator, settings, [one for one in loaded if one.judges_calls])
    removals = []
    for action in _ORDER:
        rules = RuleSet(rule for rule in loaded if rule.rule.action == action)
        engine = Engine(
            rules,
            make,
            on_error=settings.on_error,
            unclear=settings.unclear,
            dry_run=settings.dry_run,
        )
        removals.append(
            register_guards(
                coordinator,
                NAME,
                [(event, engine.on_event) for event in _list_events(rules)],
                priority=settings.priority,
                timeout=settings.timeout,
            )
        )
    return combine_removals(removals)
