"""The values that hooks and tools answer with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

if TYPE_CHECKING:
    from amplifier_core.message_models import Message, ToolCall

Action = Literal["continue", "deny", "modify", "inject_context", "ask_user"]
Role = Literal["system", "user", "assistant"]
Level = Literal["info", "warning", "error"]
Decision = Literal["allow", "deny"]

DEFAULT_APPROVAL_OPTIONS = ("Allow", "Deny")

_ModelType = type(BaseModel)

# Built when the first value is validated: a process that only routes events starts faster.
_VALUE = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class _Interning(_ModelType):  # type: ignore[misc, valid-type]
    """Hands out one shared instance for the answer nearly every hook gives."""

    def __call__(cls, *, action: Any = "continue", **rest: Any) -> Any:
        if rest or action != "continue" or cls is not HookResult:
            return super().__call__(action=action, **rest)
        return CONTINUE


class ContextInjection(BaseModel):
    """One of several injections in a single answer."""

    model_config = _VALUE

    content: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    hook_name: str | None = None
    event: str | None = None


class HookResult(BaseModel, metaclass=_Interning):
    """What a hook answers. Frozen: every change is a new result."""

    model_config = _VALUE

    action: Action = Field("continue", description="What happens after the hook ran")
    data: dict[str, Any] | None = Field(None, description="The whole event data, for modify")
    reason: str | None = Field(None, description="Why; the agent sees it when blocked")

    context_injection: str | None = Field(None, description="Text for the agent's conversation")
    context_injection_role: Role = Field("system", description="Role of the injected message")
    ephemeral: bool = Field(False, description="For one model call only, never stored")
    append_to_last_tool_result: bool = Field(
        False, description="Put an ephemeral injection behind the last tool result"
    )

    approval_prompt: str | None = Field(None, description="The question, for ask_user")
    approval_options: list[str] | None = Field(None, description="Choices; Allow and Deny if None")
    approval_timeout: float = Field(300.0, description="Seconds to wait for a decision")
    approval_default: Decision = Field("deny", description="What holds on timeout or error")

    suppress_output: bool = Field(False, description="Hide what the hook printed")
    user_message: str | None = Field(None, description="Message for the person")
    user_message_level: Level = Field("info", description="Its severity")
    user_message_source: str | None = Field(None, description="Who speaks, if not the hook's name")

    context_injections: list[ContextInjection] | None = Field(
        None, description="Several injections in one answer"
    )

    # In `__dict__`, as pydantic keeps cached properties: not a field, so it takes no part in
    # equality, serialisation or validation.
    @cached_property
    def _origin(self) -> object:
        """The dispatch that this result was folded from; None for what a hook answered."""
        return None

    def __getattr__(self, name: str) -> Any:
        """The slots that a result filled by the kernel leaves empty read as validation's None."""
        if name in ("__pydantic_extra__", "__pydantic_private__"):
            return None
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


# Validation costs more than a whole emit, so the kernel fills results it has already checked
# directly: the model's own slots, in the same state that validation leaves them in.
_new = object.__new__
_set_values = BaseModel.__dict__["__dict__"].__set__
_set_given = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_DEFAULTS = {name: field.default for name, field in HookResult.model_fields.items()}
_CONTINUED_FIELDS = {"action", "data"}


def continue_with(data: dict[str, Any] | None) -> HookResult:
    """`HookResult(action="continue", data=data)` for data that is known to be a dict."""
    values = _DEFAULTS.copy()
    values["data"] = data
    result: HookResult = _new(HookResult)
    _set_values(result, values)
    _set_given(result, _CONTINUED_FIELDS)
    return result


CONTINUE: HookResult = continue_with(None)


def replace_fields(result: HookResult, **changes: Any) -> HookResult:
    """A new result with some fields changed. The caller vouches for their types."""
    fresh: HookResult = _new(HookResult)
    _set_values(fresh, {**result.__dict__, **changes})
    _set_given(fresh, result.model_fields_set | changes.keys())
    return fresh


def attach_origin(result: HookResult, origin: object) -> HookResult:
    """The result, which nobody else holds yet, with the dispatch that it was folded from."""
    result.__dict__["_origin"] = origin
    return result


def find_problem(result: HookResult) -> str | None:
    """What is wrong with a result that was copied or built past its validation."""
    try:
        HookResult.model_validate({**result.__dict__, "data": None}, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


class ToolResult(BaseModel):
    """What a tool answers."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    success: bool = True
    output: Any = None
    error: str | None = None
    denied: bool = Field(False, description="Whether a hook or a person kept the tool from running")

    @field_validator("error", mode="before")
    @classmethod
    def _error_as_text(cls, value: Any) -> Any:
        """Modules of the ecosystem pass `{"message": …}`; ours is a string."""
        if isinstance(value, Mapping):
            return str(value.get("message") or dict(value))
        return value

    @classmethod
    def failed(cls, error: str) -> ToolResult:
        """A call that did not work, with the sentence the agent reads."""
        return cls(success=False, error=error)

    @classmethod
    def refused(cls, sentence: str) -> ToolResult:
        """A call that a hook, a person or the kernel did not allow."""
        return cls(success=False, error=sentence, denied=True)

    def get_serialized_output(self) -> str:
        """The text that goes into the conversation."""
        if not self.success and self.output is None:
            return self.error or "The tool failed without saying why."
        if isinstance(self.output, str):
            return self.output
        import json

        try:
            return json.dumps(self.output, ensure_ascii=False, default=str)
        except Exception:  # noqa: BLE001 - cycles, great depth, odd keys, classes that raise
            from amplifier_core.utils import safe_repr

            return safe_repr(self.output)


def __getattr__(name: str) -> Any:
    """`Message` and `ToolCall` live beside the other wire models, which a registry never needs."""
    if name in {"Message", "ToolCall"}:
        from amplifier_core import message_models

        return getattr(message_models, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CONTINUE",
    "DEFAULT_APPROVAL_OPTIONS",
    "Action",
    "ContextInjection",
    "Decision",
    "HookResult",
    "Level",
    "Message",
    "Role",
    "ToolCall",
    "ToolResult",
    "attach_origin",
    "continue_with",
    "find_problem",
    "replace_fields",
]


class ApprovalRequest(BaseModel):
    """A question to an approval provider of the ecosystem."""

    model_config = ConfigDict(extra="ignore")

    tool_name: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    risk_level: Literal["low", "medium", "high", "critical"] = "medium"
    timeout: float | None = Field(default=None, gt=0)


class ApprovalResponse(BaseModel):
    """Its answer."""

    model_config = ConfigDict(extra="ignore")

    approved: bool
    reason: str | None = None
    remember: bool = False
