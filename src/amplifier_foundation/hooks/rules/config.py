"""The options of hooks-rules, and the rules that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.hooks.rules.rule import OnError, Rule
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.policy.editing_tools import PATH_KEYS

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


def read_file(path: Path, read: Read = Path.read_bytes) -> list[dict[str, Any]]:
    """The rules of a YAML file: a list, or a mapping with `rules`; `read` gets its bytes."""
    import yaml

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


def _parse_rules(entries: list[Any], source: str) -> Iterator[Rule]:
    for number, entry in enumerate(entries, 1):
        named = entry.get("name") if isinstance(entry, dict) else None
        owner = f"{NAME}: rule {named!r}" if named else f"{NAME}: rule number {number}"
        owner += source
        if not isinstance(entry, dict):
            raise ModuleLoadError(f"{owner}: must be a mapping with 'name' and 'action'")
        yield parse_config(Rule, {"name": f"rule-{number}", **entry}, owner)


def list_files(config: Config, base: Path) -> list[Path]:
    """The files of rules that the options name."""
    files = [config.file] if isinstance(config.file, str) else config.file
    return [base / Path(name).expanduser() for name in files]


def read_rules(config: Config, base: Path, read: Read = Path.read_bytes) -> list[Rule]:
    """The rules that are switched on, of the options and of the files that they name."""
    rules = list(_parse_rules(config.rules, ""))
    for path in list_files(config, base):
        rules += _parse_rules(read_file(path, read), f" in {path.name}")
    _refuse_twins(rules)
    return [rule for rule in rules if rule.enabled]


def _refuse_twins(rules: list[Rule]) -> None:
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise ModuleLoadError(f"{NAME}: there are two rules named {rule.name!r}; rename one")
        seen.add(rule.name)
