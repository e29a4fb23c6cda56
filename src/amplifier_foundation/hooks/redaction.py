"""hooks-redaction: replace secrets by their names before tools, models or people see them.

Listens to  prompt:submit, provider:request, provider:response, tool:pre, tool:post, tool:error
            and the notifications that repeat their texts
Answers     modify, or continue; registers a scrubber for display and trail
Configure   off, patterns, environment, allow_in_tools, events, replacement, notify, priority,
            timeout
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core import events
from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils.suggest import suggest
from amplifier_foundation.modules.guarding import register_guards
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.modules.subscription import combine_removals
from amplifier_foundation.policy.patterns import PatternError
from amplifier_foundation.policy.redactor import Redactor
from amplifier_foundation.policy.secret_shapes import SHAPES

NAME = "hooks-redaction"
_SHORTEST_ENVIRONMENT_VALUE = 8

FIELDS: dict[str, tuple[str, ...]] = {
    events.PROMPT_SUBMIT: ("prompt", "metadata"),
    events.EXECUTION_START: ("prompt",),
    events.PROVIDER_REQUEST: ("messages",),
    events.PROVIDER_RESPONSE: ("response",),
    events.PROVIDER_ERROR: ("error",),
    events.CONTENT_BLOCK_DELTA: ("delta",),
    events.CONTENT_BLOCK_END: ("block",),
    events.THINKING_DELTA: ("delta",),
    events.THINKING_FINAL: ("thinking",),
    events.TOOL_PRE: ("tool_input",),
    events.TOOL_POST: ("tool_input", "tool_result", "result"),
    events.TOOL_ERROR: ("tool_input", "error"),
    events.AGENT_SPAWN: ("task", "config_override"),
    events.AGENT_COMPLETE: ("task", "result"),
    events.ORCHESTRATOR_COMPLETE: ("final_message",),
    events.EXECUTION_COMPLETE: ("response",),
    events.PROMPT_COMPLETE: ("prompt", "response"),
    events.USER_NOTIFICATION: ("message", "metadata"),
}
"""What is looked through, per event."""


class Config(BaseModel):
    """The options of hooks-redaction."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    off: list[str] = Field(default_factory=list)
    patterns: dict[str, str] = Field(default_factory=dict)
    environment: list[str] = Field(default_factory=list)
    allow_in_tools: list[str] = Field(default_factory=list)
    events: list[str] = Field(default_factory=lambda: list(FIELDS), min_length=1)
    replacement: str = "[REDACTED:{name}]"
    notify: bool = False
    priority: int = -1000
    timeout: float = Field(10.0, gt=0, allow_inf_nan=False)

    @field_validator("off")
    @classmethod
    def _check_shapes(cls, value: list[str]) -> list[str]:
        return _check_known(value, SHAPES, "shape")

    @field_validator("events")
    @classmethod
    def _check_events(cls, value: list[str]) -> list[str]:
        return _check_known([events.canonical(name) for name in value], FIELDS, "event")

    @field_validator("patterns")
    @classmethod
    def _check_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
                raise ValueError(f"{name!r} is no name; use letters, digits, '-', '_' and '.'")
        return value


def _check_known(value: list[str], table: dict[str, Any], noun: str) -> list[str]:
    for name in value:
        if name not in table:
            raise ValueError(f"there is no {noun} {name!r}; {suggest(name, table)}")
    return value


class Redaction:
    """Answers with the same data, its secrets replaced."""

    def __init__(self, config: Config, redactor: Redactor) -> None:
        self._config = config
        self._redactor = redactor

    def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        if self._is_allowed(event, data):
            return HookResult(action="continue")
        fields = FIELDS.get(events.canonical(event), ())
        new = {name: self._redactor.redact(data[name]) for name in fields if name in data}
        changed = [name for name, value in new.items() if value is not data[name]]
        if not changed:
            return HookResult(action="continue")
        return HookResult(
            action="modify", data={**data, **new}, **self._make_message(event, changed)
        )

    def _is_allowed(self, event: str, data: dict[str, Any]) -> bool:
        """Tools that need the secret, such as a password manager, get their input as it is."""
        if event != events.TOOL_PRE:
            return False
        tool = str(data.get("tool_name", ""))
        return any(fnmatchcase(tool, glob) for glob in self._config.allow_in_tools)

    def _make_message(self, event: str, changed: list[str]) -> dict[str, Any]:
        if not self._config.notify:
            return {}
        what = ", ".join(changed)
        return {
            "user_message": f"A secret was replaced in {what} ({event}).",
            "user_message_level": "warning",
        }


def _collect_shapes(config: Config) -> dict[str, str]:
    """Own patterns first, so that they name what they share with ours."""
    named = {**config.patterns, **{k: v for k, v in SHAPES.items() if k not in config.patterns}}
    shapes = {name: shape for name, shape in named.items() if name not in config.off}
    for name, value in sorted(os.environ.items()):
        listed = any(fnmatchcase(name, glob) for glob in config.environment)
        if listed and len(value) >= _SHORTEST_ENVIRONMENT_VALUE:
            shapes[f"env-{name}"] = re.sub(r"([^A-Za-z0-9\s])", r"\\\1", value)
    return shapes


def _build_redactor(config: Config) -> Redactor:
    try:
        return Redactor(_collect_shapes(config), NAME, config.replacement)
    except PatternError as wrong:
        raise ModuleLoadError(f"{NAME}: option 'patterns': {wrong}") from wrong


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to redact. Fails closed: what cannot be looked through goes nowhere."""
    settings = parse_config(Config, config, NAME)
    redactor = _build_redactor(settings)
    redaction = Redaction(settings, redactor)
    remove = register_guards(
        coordinator,
        NAME,
        [(event, redaction.on_event) for event in settings.events],
        priority=settings.priority,
        timeout=settings.timeout,
    )
    return combine_removals([remove, coordinator.register_scrubber(redactor.redact_text)])
