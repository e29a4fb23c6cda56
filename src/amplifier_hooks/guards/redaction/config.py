"""The options of hooks-redaction, and what it looks through."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from amplifier_core import events
from amplifier_hooks.guards.mcp.listing import LIST
from amplifier_hooks.guards.policy.secrets import SHAPES
from amplifier_hooks.modules.guarding import GuardConfig
from amplifier_hooks.modules.option_checks import check_known, check_pattern_names

NAME = "hooks-redaction"

FIELDS: dict[str, tuple[str, ...]] = {
    events.PROMPT_SUBMIT: ("prompt", "metadata"),
    events.EXECUTION_START: ("prompt",),
    events.PROVIDER_REQUEST: ("messages",),
    events.PROVIDER_RESPONSE: ("response",),
    events.PROVIDER_RETRY: ("error",),
    events.PROVIDER_ERROR: ("error",),
    events.CONTENT_BLOCK_DELTA: ("delta",),
    events.CONTENT_BLOCK_END: ("block",),
    events.THINKING_DELTA: ("delta",),
    events.THINKING_FINAL: ("thinking",),
    events.TOOL_PRE: ("tool_input",),
    events.TOOL_POST: ("tool_input", "tool_result", "result"),
    events.TOOL_ERROR: ("tool_input", "error"),
    events.AGENT_SPAWN: ("task",),  # the sub-agent is built from the rest, keys included
    events.AGENT_COMPLETE: ("task", "result"),
    events.ORCHESTRATOR_COMPLETE: ("final_message",),
    events.EXECUTION_COMPLETE: ("response",),
    events.PROMPT_ANSWER: ("prompt", "response"),
    events.PROMPT_COMPLETE: ("prompt", "response"),
    events.ERROR_ORCHESTRATION: ("error",),
    events.USER_NOTIFICATION: ("message", "metadata"),
    LIST: ("items", "instructions"),
}
"""What is looked through, per event."""

OnWrite = Literal["ask", "deny", "tell-and-redact", "off"]


class Config(GuardConfig):
    """The options of hooks-redaction."""

    on_write: OnWrite = "ask"
    off: list[str] = Field(default_factory=list)
    patterns: dict[str, str] = Field(default_factory=dict)
    allow: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    allow_in_tools: list[str] = Field(default_factory=list)
    events: list[str] = Field(default_factory=lambda: list(FIELDS), min_length=1)
    replacement: str = "[REDACTED:{name}]"
    notify: bool = False
    priority: int = -1000  # first: other hooks see what it left
    write_priority: int = 900  # behind the hooks that change a call: what is judged is what runs
    # Without "always": a yes to one token is no yes to the next.
    approval_options: list[str] = Field(
        default_factory=lambda: ["Allow once", "Deny"], min_length=1
    )

    @field_validator("off")
    @classmethod
    def _check_shapes(cls, value: list[str]) -> list[str]:
        return check_known(value, SHAPES, "shape")

    @field_validator("events")
    @classmethod
    def _check_events(cls, value: list[str]) -> list[str]:
        return check_known([events.canonical(name) for name in value], FIELDS, "event")

    @field_validator("patterns")
    @classmethod
    def _check_names(cls, value: dict[str, str]) -> dict[str, str]:
        check_pattern_names(value)
        return value
