"""Mounting hooks-injection-guard."""

from __future__ import annotations

from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.guards.injection_guard.config import NAME, Config
from amplifier_hooks.guards.injection_guard.guard import CallGuard
from amplifier_hooks.guards.injection_guard.list_guard import ListGuard
from amplifier_hooks.guards.injection_guard.scanner import Scanner
from amplifier_hooks.guards.mcp.protocol import LIST
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.modules.guarding import register_guards
from amplifier_hooks.modules.options import parse_config


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to look. Fails closed: what cannot be looked through reaches no model."""
    settings = parse_config(Config, config, NAME)
    scanner = _build_scanner(settings)
    calls, lists = CallGuard(settings, scanner), ListGuard(settings, scanner)
    return register_guards(
        coordinator,
        NAME,
        [
            (TOOL_PRE, calls.on_request),
            (TOOL_POST, calls.on_result),
            (TOOL_ERROR, calls.on_error),
            (LIST, lists.on_list),
        ],
        priority=settings.priority,
        timeout=settings.timeout,
    )


def _build_scanner(config: Config) -> Scanner:
    try:
        return Scanner(
            NAME,
            config.languages,
            off=config.off,
            patterns=config.patterns,
            allow=config.allow,
        )
    except PatternError as wrong:
        raise ModuleLoadError(f"{NAME}: option 'patterns' or 'allow': {wrong}") from wrong
