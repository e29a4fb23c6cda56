"""Mounting hooks-redaction."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.guards.policy.secrets import SHAPES, Redactor
from amplifier_hooks.guards.redaction.config import NAME, Config
from amplifier_hooks.guards.redaction.log_filter import watch_logs
from amplifier_hooks.guards.redaction.masking import Masking
from amplifier_hooks.guards.redaction.writing import WriteGuard
from amplifier_hooks.modules.guarding import register_guards
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.subscription import Removal, combine_removals

_SHORTEST_ENVIRONMENT_VALUE = 8


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to redact. Fails closed: what cannot be looked through goes nowhere."""
    settings = parse_config(Config, config, NAME)
    redactor = _build_redactor(settings)
    return combine_removals(
        [
            _register_masking(coordinator, settings, redactor),
            _register_write_guard(coordinator, settings, redactor),
            watch_logs(redactor.redact_text),
            coordinator.register_scrubber(redactor),
        ]
    )


def _register_masking(host: Host, settings: Config, redactor: Redactor) -> Removal:
    masking = Masking(redactor, notify=settings.notify)
    heard = [event for event in settings.events if event != TOOL_PRE]
    return register_guards(
        host,
        NAME,
        [(event, masking.on_event) for event in heard],
        priority=settings.priority,
        timeout=settings.timeout,
    )


def _register_write_guard(host: Host, settings: Config, redactor: Redactor) -> Removal:
    wanted = settings.on_write != "off" and TOOL_PRE in settings.events
    changes = settings.on_write == "tell-and-redact"
    return register_guards(
        host,
        NAME,
        [(TOOL_PRE, WriteGuard(settings, redactor).on_call)] if wanted else [],
        priority=settings.priority if changes else settings.write_priority,
        timeout=settings.timeout,
    )


def _build_redactor(config: Config) -> Redactor:
    try:
        return Redactor(collect_shapes(config), NAME, config.replacement, config.allow)
    except PatternError as wrong:
        raise ModuleLoadError(f"{NAME}: option 'patterns' or 'allow': {wrong}") from wrong


def collect_shapes(config: Config) -> dict[str, str]:
    """Own patterns first, so that they name what they share with ours."""
    named = {**config.patterns, **{k: v for k, v in SHAPES.items() if k not in config.patterns}}
    shapes = {name: shape for name, shape in named.items() if name not in config.off}
    for name, value in sorted(os.environ.items()):
        listed = any(fnmatchcase(name, glob) for glob in config.environment)
        if listed and len(value) >= _SHORTEST_ENVIRONMENT_VALUE:
            shapes[f"env-{name}"] = re.sub(r"([^A-Za-z0-9\s])", r"\\\1", value)
    return shapes
