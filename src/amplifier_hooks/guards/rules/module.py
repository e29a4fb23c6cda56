"""Mounts hooks-rules."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.guards.policy.tool_calls import ARGUMENT_KEYS, COMMAND_KEYS, FILE_KEYS
from amplifier_hooks.guards.policy.unread_tools import offer_reader
from amplifier_hooks.guards.rules.config import NAME, Config, Read, read_rules
from amplifier_hooks.guards.rules.engine import Engine, make_occasion_factory
from amplifier_hooks.guards.rules.ruleset import LoadedRule, RuleSet
from amplifier_hooks.machine.snapshot import Snapshot
from amplifier_hooks.modules.guarding import get_base_dir, register_guards
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.subscription import combine_removals

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
    make = make_occasion_factory(base, tuple(settings.path_keys), tuple(settings.command_keys))
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
