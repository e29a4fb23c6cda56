"""hooks-rules: policies written as YAML: what to look for, and which of the five answers to give.

Listens to  the events that the rules name
Answers     whatever the rules say: deny, ask_user, modify, inject_context, continue
Configure   rules, file, dry_run, on_error, unclear, path_keys, command_keys, priority, timeout
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup
from amplifier_foundation.hooks.rules.engine import Engine, occasions
from amplifier_foundation.hooks.rules.rule import OnError, Rule
from amplifier_foundation.hooks.rules.ruleset import LoadedRule, RuleSet, load
from amplifier_foundation.modules.guarding import base_dir, removing
from amplifier_foundation.modules.options import parse_config

NAME = "hooks-rules"

_ORDER = ("modify", "deny", "ask_user", "inject_context", "continue")
"""Changes first, so that the others judge what will run."""


class Config(BaseModel):
    """The options of hooks-rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: list[dict[str, Any]] = Field(default_factory=list)
    file: str | list[str] = Field(default_factory=list)
    dry_run: bool = False
    on_error: OnError = "deny"
    unclear: OnError = "ask_user"
    path_keys: list[str] = Field(default_factory=lambda: ["file_path", "path", "notebook_path"])
    command_keys: list[str] = Field(default_factory=lambda: ["command"])
    priority: int = 900
    timeout: float = Field(10.0, gt=0, allow_inf_nan=False)


def read_file(path: Path) -> list[dict[str, Any]]:
    """The rules of a YAML file: a list, or a mapping with `rules`."""
    import yaml

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as failure:
        raise ModuleLoadError(f"{NAME}: the rules file {path} cannot be read: {failure}") from None
    except yaml.YAMLError as wrong:
        where = getattr(wrong, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        what = getattr(wrong, "problem", None) or wrong
        raise ModuleLoadError(f"{NAME}: the rules file {path}{line} is no YAML: {what}") from None
    rules = content.get("rules") if isinstance(content, dict) else content
    if not isinstance(rules, list):
        raise ModuleLoadError(f"{NAME}: the rules file {path} has no list of rules")
    return rules


def _parsed(entries: list[Any], source: str) -> Iterator[Rule]:
    for number, entry in enumerate(entries, 1):
        named = entry.get("name") if isinstance(entry, dict) else None
        owner = f"{NAME}: rule {named!r}" if named else f"{NAME}: rule number {number}"
        owner += source
        if not isinstance(entry, dict):
            raise ModuleLoadError(f"{owner}: must be a mapping with 'name' and 'action'")
        yield parse_config(Rule, {"name": f"rule-{number}", **entry}, owner)


def _all_rules(config: Config, base: Path) -> list[Rule]:
    files = [config.file] if isinstance(config.file, str) else config.file
    rules = list(_parsed(config.rules, ""))
    for name in files:
        path = base / Path(name).expanduser()
        rules += _parsed(read_file(path), f" in {path.name}")
    _refuse_twins(rules)
    return [rule for rule in rules if rule.enabled]


def _refuse_twins(rules: list[Rule]) -> None:
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise ModuleLoadError(f"{NAME}: there are two rules named {rule.name!r}; rename one")
        seen.add(rule.name)


def _loaded(config: Config, base: Path) -> list[LoadedRule]:
    return [load(rule, base, f"{NAME}: rule {rule.name!r}") for rule in _all_rules(config, base)]


def _events(rules: RuleSet) -> list[str]:
    """What to register for: everything as soon as one rule has a pattern, else each event once."""
    names = dict.fromkeys(event for loaded in rules for event in loaded.events)
    return ["*"] if any("*" in name or "?" in name for name in names) else list(names)


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup:
    """Load the rules, all of them or none, and begin to apply them."""
    settings = parse_config(Config, config, NAME)
    base = base_dir(coordinator)
    loaded = await asyncio.to_thread(_loaded, settings, base)
    make = occasions(base, tuple(settings.path_keys), tuple(settings.command_keys))
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
        removals += [
            coordinator.hooks.register(
                event,
                engine.on_event,
                priority=settings.priority,
                name=NAME,
                on_error="deny",
                timeout=settings.timeout,
            )
            for event in _events(rules)
        ]
    return removing(removals)
