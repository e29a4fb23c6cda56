"""One rule as it is written, validated: what it looks for and what it answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from amplifier_core.event_names import find_problem
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import Action, Decision, HookResult, Level, Role
from amplifier_hooks.guards.bash import CommandPattern

OnError = Literal["deny", "ask_user", "continue"]
Access = Literal["read", "write"]
Origin = Literal["user", "own", "covered", "sender", "text", "none", "untrusted"]
UNTRUSTED = frozenset({"sender", "text", "none"})
"""What `untrusted` stands for."""

_BELONGS_TO = {
    "data": "modify",
    "context_injection": "inject_context",
    "context_injection_role": "inject_context",
    "ephemeral": "inject_context",
    "append_to_last_tool_result": "inject_context",
    "approval_prompt": "ask_user",
    "approval_options": "ask_user",
    "approval_timeout": "ask_user",
    "approval_default": "ask_user",
}
_NEEDED = {
    "modify": "data",
    "inject_context": "context_injection",
    "ask_user": "approval_prompt",
    "deny": "reason",
}


class CommandMatch(BaseModel):
    """A command in parts: each a glob or a list of globs, of which one must fit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    program: str | list[str] = "*"
    flag: str | list[str] | None = None
    argument: str | list[str] | None = None

    def to_pattern(self) -> CommandPattern:
        return CommandPattern(
            tuple(name.casefold() for name in as_list(self.program)),
            (tuple(as_list(self.flag)),) if self.flag else (),
            (tuple(as_list(self.argument)),) if self.argument else (),
        )


class Match(BaseModel):
    """What a rule looks for; all that is given must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str | list[str] | None = None
    path: str | list[str] | None = None
    command: str | CommandMatch | list[str | CommandMatch] | None = None
    regex: str | dict[str, str] | None = None
    when: str | None = None

    @field_validator("tool", "path")
    @classmethod
    def _check_not_empty(cls, value: Any) -> Any:
        if value is not None and not all(text.strip() for text in as_list(value) or [""]):
            raise ValueError("is empty; leave it out to match everything")
        return value

    @field_validator("command")
    @classmethod
    def _check_commands(cls, value: Any) -> Any:
        read_command_patterns(value)
        return value


CONDITIONS = tuple(Match.model_fields)
"""What a rule may look for."""


class Rule(Match):
    """A rule: a match, an optional exception from it, and an answer."""

    name: str = Field(min_length=1)
    description: str | None = None
    enabled: bool = True
    dry_run: bool = False
    event: str | list[str] = TOOL_PRE
    access: Access | None = None
    origin: Origin | dict[str, Origin | list[Origin]] | None = None
    unless: Match | None = None
    on_error: OnError | None = None

    action: Action
    data: dict[str, Any] | None = None
    reason: str | None = None
    context_injection: str | None = None
    context_injection_role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    approval_prompt: str | None = None
    approval_options: list[str] | None = Field(None, min_length=1)
    approval_timeout: float = Field(300.0, gt=0, allow_inf_nan=False)
    approval_default: Decision = "deny"
    suppress_output: bool = False
    user_message: str | None = None
    user_message_level: Level = "info"

    @field_validator("event")
    @classmethod
    def _check_events(cls, value: str | list[str]) -> str | list[str]:
        for event in as_list(value):
            if problem := find_problem(event):
                raise ValueError(problem)
        if not as_list(value):
            raise ValueError("is empty")
        return value

    @model_validator(mode="after")
    def _check_access(self) -> Rule:
        if self.access is not None and self.path is None:
            raise ValueError("'access' says how 'path' is used; give a 'path'")
        return self

    @model_validator(mode="after")
    def _check_fields(self) -> Rule:
        for field, action in _BELONGS_TO.items():
            if field in self.model_fields_set and action != self.action:
                raise ValueError(f"{field!r} belongs to action {action!r}, not {self.action!r}")
        needed = _NEEDED.get(self.action)
        tells_itself = self.action == "deny" and self.path is not None
        if needed and getattr(self, needed) is None and not tells_itself:
            if self.action != "ask_user":
                raise ValueError(f"action {self.action!r} needs {needed!r}")
            if self.reason is None:
                raise ValueError(
                    "action 'ask_user' needs 'approval_prompt', or a 'reason', which then is asked"
                )
        return self

    @property
    def guards(self) -> bool:
        """Whether not knowing is a reason to stop."""
        return self.action in {"deny", "ask_user"}


ANSWER_FIELDS = tuple(
    one for one in HookResult.model_fields if one in Rule.model_fields and one != "action"
)
"""What a rule may say of its answer, beside the action."""


def as_list(value: str | list[str] | None) -> list[str]:
    """One or many, as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def find_access(match: Match) -> Access | None:
    """How a rule means its path to be used; its exception covers both."""
    return match.access if isinstance(match, Rule) else None


def list_origins(match: Match) -> dict[str, frozenset[str]]:
    """The labels that a rule wants of arguments, `*` for any of them; an exception has none."""
    wanted = match.origin if isinstance(match, Rule) else None
    if wanted is None:
        return {}
    entries = wanted if isinstance(wanted, dict) else {"*": wanted}
    return {name: _read_labels(value) for name, value in entries.items()}


def _read_labels(value: Any) -> frozenset[str]:
    labels = as_list(value)
    return frozenset(labels) | (UNTRUSTED if "untrusted" in labels else frozenset())


def list_excepted_paths(match: Match) -> list[str]:
    """The globs of a rule's exception, if it says nothing else."""
    unless = match.unless if isinstance(match, Rule) else None
    if unless is None or unless.model_fields_set - {"path"}:
        return []
    return as_list(unless.path)


def read_command_patterns(
    value: str | CommandMatch | list[str | CommandMatch] | None,
) -> tuple[CommandPattern, ...]:
    """The patterns behind `command`; empty when it is not given."""
    if value is None:
        return ()
    entries = value if isinstance(value, list) else [value]
    return tuple(
        CommandPattern.read(entry) if isinstance(entry, str) else entry.to_pattern()
        for entry in entries
    )
