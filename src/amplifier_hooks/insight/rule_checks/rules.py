"""Rules as they are written, where they stand, and what is found about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_entry
from amplifier_hooks.agent.bundles import Bundle, Place
from amplifier_hooks.approvals.errors import NotFound
from amplifier_hooks.approvals.rules import ApprovalRule, RulesApproval
from amplifier_hooks.approvals.rules import LoadedRule as LoadedApprovalRule
from amplifier_hooks.approvals.rules import load_rule as load_approval_rule
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.guards.rules.engine import LoadedRule, load_rule
from amplifier_hooks.guards.rules.loading import (
    NAME,
    Config,
    list_files,
    read_file,
    read_rules,
)
from amplifier_hooks.guards.rules.rule import Rule
from amplifier_hooks.guards.rules.rule_lines import find_rule_lines
from amplifier_hooks.machine.files import read_regular
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.text.short_ids import shorten_id
from amplifier_hooks.yaml_files.node import to_plain
from amplifier_hooks.yaml_files.reader import read_file as read_bundle_file

if TYPE_CHECKING:  # databases are not imported before somebody opens one
    from amplifier_hooks.approvals.stores.store import Store


@dataclass(frozen=True, slots=True)
class HookRule:
    """A rule of hooks-rules."""

    rule: Rule
    loaded: LoadedRule
    place: Place
    dry_run: bool = False
    """Whether it only says what it would do."""

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def acts(self) -> bool:
        """Whether it is switched on, and its answer counts."""
        return self.rule.enabled and not self.dry_run


@dataclass(frozen=True, slots=True)
class AnsweringRule:
    """A rule of an approval file."""

    rule: ApprovalRule
    loaded: LoadedApprovalRule
    place: Place

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def allows(self) -> bool:
        return self.rule.decision == "allow"


@dataclass(frozen=True, slots=True)
class HookRules:
    """The rules of one entry of hooks-rules, in their order."""

    rules: tuple[HookRule, ...]
    base: Path
    source: str
    """What they belong to, in words."""
    path_keys: tuple[str, ...] = PATH_KEYS
    command_keys: tuple[str, ...] = ("command",)
    kind: Literal["hook"] = "hook"


@dataclass(frozen=True, slots=True)
class AnsweringRules:
    """The rules of one approval file, of which the first that matches decides."""

    rules: tuple[AnsweringRule, ...]
    base: Path
    source: str
    otherwise: str = "ask"
    kind: Literal["approval"] = "approval"


@dataclass(frozen=True, slots=True)
class StandingGrant:
    """An "always" that is kept in the store, with a call that it allows."""

    id: str
    author: str
    hook: str
    tool: str
    description: str
    uses: int = 0
    input: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"standing rule {shorten_id(self.id)}"


Rules = HookRules | AnsweringRules


def read_bundle_rules(bundle: Bundle, base: Path) -> list[HookRules]:
    """The rules of each entry of hooks-rules in a bundle, those of its agents too."""
    return [
        _read_entry(entry, bundle, base, agent)
        for entry, agent in _list_entries(bundle.mount_plan)
        if entry.module == NAME and entry.source is None
    ]


def _list_entries(plan: Mapping[str, Any]) -> Iterator[tuple[ModuleEntry, str]]:
    for entry in MountPlan.parse(dict(plan)).hooks:
        yield entry, ""
    for name, agent in plan["agents"].items():
        for given in agent.get("hooks") or ():
            yield read_entry("hooks", given), name


def _read_entry(entry: ModuleEntry, bundle: Bundle, base: Path, agent: str) -> HookRules:
    config = parse_config(Config, entry.config, NAME)
    try:  # the errors of the module itself, in its own words
        for one in read_rules(config, base):
            one.load(base)
    except ModuleLoadError as wrong:
        place = bundle.place_of(entry.module, entry.name, bool(agent), wrong.option)
        raise ModuleLoadError(f"{place}: {wrong}") from wrong
    dry_run = config.dry_run or getattr(entry, "mode", None) == "shadow"
    own = bundle.place_of(entry.module, entry.name, agent=bool(agent))
    known = _find_bundle_lines(bundle)
    found = [
        _make_rule(given, number, base, known.get(_name(given, number), own or Place("")), dry_run)
        for number, given in enumerate(config.rules, 1)
    ]
    for path in list_files(config, base):
        found += _read_hook_file(path, base, dry_run)
    source = f"{entry.name or NAME} of agent {agent!r}" if agent else entry.name or NAME
    return HookRules(
        tuple(found), base, source, tuple(config.path_keys), tuple(config.command_keys)
    )


def _find_bundle_lines(bundle: Bundle) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for path in bundle.sources:
        text = bundle.snapshot.read(path).decode("utf-8", "replace")
        for name, line in find_rule_lines(text).items():
            found.setdefault(name, Place(str(path), line))
    return found


def read_rules_file(path: Path, base: Path) -> Rules:
    """The rules of a file: those of hooks-rules have an `action`, approval rules a `decision`."""
    try:
        entries = read_file(path)
    except ModuleLoadError as error:
        raise ModuleLoadError(f"{error}. A bundle is checked with --bundle") from error
    keys = {key for entry in entries if isinstance(entry, dict) for key in entry}
    if "decision" in keys and "action" not in keys:
        return _read_answering_file(path, base)
    if "action" not in keys:
        raise ModuleLoadError(
            f"{path} has no rules: those of hooks-rules have an 'action', approval rules a "
            "'decision'. A bundle is checked with --bundle"
        )
    read_rules(Config(file=str(path.absolute())), base)
    return HookRules(tuple(_read_hook_file(path, base, dry_run=False)), base, str(path))


def _read_hook_file(path: Path, base: Path, dry_run: bool) -> list[HookRule]:
    lines = find_rule_lines(read_regular(path).decode("utf-8", "replace"))
    return [
        _make_rule(given, number, base, Place(str(path), lines.get(_name(given, number))), dry_run)
        for number, given in enumerate(read_file(path), 1)
    ]


def _name(given: Mapping[str, Any], number: int) -> str:
    return str(given.get("name") or f"rule-{number}")


def _make_rule(
    given: Mapping[str, Any], number: int, base: Path, place: Place, dry_run: bool
) -> HookRule:
    name = _name(given, number)
    owner = f"{NAME}: rule {name!r}"
    rule = parse_config(Rule, {"name": name, **given}, owner)
    return HookRule(rule, load_rule(rule, base, owner), place, dry_run or rule.dry_run)


def _read_answering_file(path: Path, base: Path) -> AnsweringRules:
    RulesApproval(path, base)  # all errors, as a session would have them
    owner = f"the approval rules in {path}"
    found = []
    for node in read_bundle_file(path, {}, set()).mapping()["rules"].items():
        rule = parse_config(ApprovalRule, to_plain(node), owner)
        found.append(AnsweringRule(rule, load_approval_rule(rule, base, owner), node.place))
    return AnsweringRules(tuple(found), base, str(path))


async def read_grants(store: Store, folder: Path) -> list[StandingGrant]:
    """Those that hold for sessions in a folder."""
    found = []
    for rule in await store.rules.list():
        if rule.working_dir not in ("", str(folder)):
            continue
        try:
            given = dict((await store.approvals.get(rule.approval_id)).request.tool_input)
        except NotFound:  # removed with age; the rule still holds
            given = {}
        found.append(
            StandingGrant(
                rule.id,
                rule.author,
                rule.hook,
                rule.tool_name,
                rule.description,
                rule.uses,
                given,
            )
        )
    return found


Kind = Literal[
    "never matches",
    "part never matches",
    "excepts everything",
    "no effect",
    "shadowed",
    "contradiction",
    "overlap",
    "disabled",
    "matched nothing",
    "unknown tool",
    "not seen",
]

NOTES: frozenset[Kind] = frozenset(
    {"overlap", "disabled", "matched nothing", "unknown tool", "not seen"}
)
"""What may well be intended; everything else is a mistake in the rules."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of one rule, or of two together."""

    kind: Kind
    rules: tuple[str, ...]
    places: tuple[str, ...]
    """Where each of the rules is written, as `file:line`."""
    sentence: str
    example: dict[str, Any] | None = None
    """An event that shows it, on which the rules were really run."""

    @property
    def is_note(self) -> bool:
        """Whether it may well be intended."""
        return self.kind in NOTES
