"""What a hook answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from amplifier_core.utils.suggest import find_slip

logger = logging.getLogger(__name__)

Action = Literal["continue", "deny", "modify", "inject_context", "ask_user"]
Role = Literal["system", "user", "assistant"]
Level = Literal["info", "warning", "error"]
Decision = Literal["allow", "deny"]

DEFAULT_APPROVAL_OPTIONS = ("Allow", "Deny")


# Both models are built when the first value is validated: a process that only routes events starts
# faster. All of it is said in class arguments, where type checkers look.
class ContextInjection(BaseModel, frozen=True, extra="ignore", defer_build=True):
    """One of several injections in a single answer."""

    content: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    hook_name: str = "unknown"
    event: str = ""


class HookResult(BaseModel, frozen=True, extra="ignore", defer_build=True):
    """What a hook answers. Frozen: every change is a new result."""

    action: Action = Field(default="continue", description="What happens after the hook ran")
    data: dict[str, Any] | None = Field(
        default=None, description="The whole event data, for modify"
    )
    reason: str | None = Field(default=None, description="Why; the agent sees it when blocked")

    context_injection: str | None = Field(
        default=None, description="Text for the agent's conversation"
    )
    context_injection_role: Role = Field(
        default="system", description="Role of the injected message"
    )
    ephemeral: bool = Field(default=False, description="For one model call only, never stored")
    append_to_last_tool_result: bool = Field(
        default=False, description="Put an ephemeral injection behind the last tool result"
    )

    approval_prompt: str | None = Field(default=None, description="The question, for ask_user")
    approval_options: list[str] | None = Field(
        default=None, description="Choices; Allow and Deny if None"
    )
    approval_timeout: float = Field(default=300.0, description="Seconds to wait for a decision")
    approval_default: Decision = Field(default="deny", description="What holds on timeout or error")

    suppress_output: bool = Field(default=False, description="Hide what the hook printed")
    user_message: str | None = Field(default=None, description="Message for the person")
    user_message_level: Level = Field(default="info", description="Its severity")
    user_message_source: str | None = Field(
        default=None, description="Who speaks, if not the hook's name"
    )

    context_injections: list[ContextInjection] = Field(
        default_factory=list, description="Several injections in one answer"
    )

    if TYPE_CHECKING:
        # What `data` may be given as is more than what it is: a payload type is a mapping.
        def __init__(
            self,
            *,
            action: Action = "continue",
            data: Mapping[str, Any] | None = None,
            reason: str | None = None,
            context_injection: str | None = None,
            context_injection_role: Role = "system",
            ephemeral: bool = False,
            append_to_last_tool_result: bool = False,
            approval_prompt: str | None = None,
            approval_options: list[str] | tuple[str, ...] | None = None,
            approval_timeout: float = 300.0,
            approval_default: Decision = "deny",
            suppress_output: bool = False,
            user_message: str | None = None,
            user_message_level: Level = "info",
            user_message_source: str | None = None,
            context_injections: list[ContextInjection] | None = None,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _check_given(cls, given: Any) -> Any:
        if type(given) is dict and _NAMES.issuperset(given):
            return given
        if isinstance(given, Mapping):
            check_names(given, cls.model_fields)
        return given

    @field_validator("context_injections", mode="before")
    @classmethod
    def _read_none_as_none_of_them(cls, value: Any) -> Any:
        return [] if value is None else value

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic does it; a misspelled field is refused here too."""
        if update and not _NAMES.issuperset(update):
            check_names(update, type(self).model_fields)
        return super().model_copy(update=update, deep=deep)

    @property
    def is_silent(self) -> bool:
        """Whether it is a plain continue: nothing was given but the action."""
        return self.action == "continue" and self.model_fields_set <= {"action"}


_NAMES = frozenset(HookResult.model_fields)

# Built without the validator, which is not made before it is needed.
CONTINUE: HookResult = HookResult.model_construct(action="continue")
"""The answer of a hook that has nothing to say; hooks may return it instead of a new one."""


_warned_of: set[str] = set()


def check_names(given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse a field that is misspelled; one of a newer version is passed over with a warning."""
    for name in given.keys() - known.keys():
        if not isinstance(name, str):  # pydantic's to refuse
            continue
        meant = find_slip(name, known)
        if meant is not None:
            raise _refuse_field(name, meant, given[name])
        if name not in _warned_of:
            _warned_of.add(name)
            logger.warning("HookResult has no field %r; it is ignored", name)


def _refuse_field(name: str, meant: str, value: Any) -> ValidationError:
    from pydantic_core import InitErrorDetails, PydanticCustomError

    text = f"HookResult has no field {name!r}; did you mean {meant!r}?"
    kind = PydanticCustomError("unknown_field", text)
    error: InitErrorDetails = {"type": kind, "loc": (name,), "input": value}
    return ValidationError.from_exception_data("HookResult", [error])


def continue_with(data: dict[str, Any] | None) -> HookResult:
    """`HookResult(action="continue", data=data)` for event data, whose keys may be anything."""
    return replace_fields(CONTINUE, data=data, context_injections=[])


def replace_fields(result: HookResult, **changes: Any) -> HookResult:
    """A new result with some fields changed. The caller vouches for their types."""
    return BaseModel.model_copy(result, update=changes)


def find_problem(result: HookResult) -> str | None:
    """What is wrong with a result that was copied or built past its validation."""
    fields = {name: getattr(result, name) for name in HookResult.model_fields if name != "data"}
    try:
        HookResult.model_validate(fields, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None
