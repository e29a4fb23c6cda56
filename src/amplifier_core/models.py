"""The values that modules hand to the kernel and get from it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from operator import not_
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from amplifier_core import only_kernel as only_kernel
from amplifier_core.message_models import CostUsd, ImageBlock, Message, TextBlock, ToolCall
from amplifier_core.utils.text import find_slip

__all__ = [
    "CONTINUE",
    "DEFAULT_APPROVAL_OPTIONS",
    "Action",
    "ApprovalRequest",
    "ApprovalResponse",
    "ConfigField",
    "ContextInjection",
    "Decision",
    "HookResult",
    "Level",
    "Message",
    "ModelInfo",
    "ModuleInfo",
    "Pricing",
    "ProviderInfo",
    "Role",
    "SessionStatus",
    "ToolCall",
    "ToolResult",
    "continue_with",
    "find_problem",
    "replace_fields",
]

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
        if value is None:
            return []
        return value

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


_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f"
_MORE_CONTROLS = re.compile("[\x80-\x9f]")
_THEIR_FIRST_BYTE = b"\xc2"


class ToolResult(BaseModel):
    """The output of a tool, or why there is none.

    `error` is what the tool gave: a sentence, or a dict with `message` and whatever else is known.
    """

    model_config = ConfigDict(extra="ignore", defer_build=True)

    success: bool = True
    output: Any = None
    error: dict[str, Any] | str | None = None
    content: list[TextBlock | ImageBlock] | None = Field(default=None, exclude_if=not_)
    denied: bool = Field(
        default=False,
        exclude_if=not_,
        description="Whether a hook or a person kept the tool from running",
    )

    # Not a validator of the whole model: this one costs nothing where there is no error.
    @field_validator("error")
    @classmethod
    def _show_as_output(cls, error: Any, info: ValidationInfo) -> Any:
        """The message of an error is the output of a tool that failed and has no other."""
        known = info.data
        if isinstance(error, dict) and known.get("success") is False and known["output"] is None:
            known["output"] = error.get("message") or None
        return error

    @classmethod
    def failed(cls, error: str) -> ToolResult:
        """A call that did not work, with the sentence the agent reads."""
        return cls(success=False, output=error, error=error)

    @classmethod
    def refused(cls, sentence: str) -> ToolResult:
        """A call that a hook, a person or the kernel did not allow."""
        return cls(success=False, output=sentence, error=sentence, denied=True)

    @property
    def error_message(self) -> str | None:
        """The sentence in the error, if it has one."""
        if isinstance(self.error, dict):
            message = self.error.get("message")
            if message:
                return str(message)
            return None
        return self.error or None

    def __str__(self) -> str:
        if self.success:
            return str("Success" if self.output is None else self.output) or "Success"
        message = self.error_message
        if message:
            return f"Error: {message}"
        return "Failed"

    def get_serialized_output(self) -> str:
        """The text that goes into the conversation."""
        text = self.output
        if type(text) is str and text.isascii() and text.isprintable():
            return text  # as most are
        if text is not None:
            text = _write(text)
        else:
            text = "Success" if self.success else self._describe_failure()
        return _drop_unsendable(text)

    def safe_hook_presentation(self) -> dict[str, Any]:
        """The result as events and logs should have it: images are described, not carried along."""
        presentation = self.model_dump()
        if self.content is not None:
            presentation["content"] = [_present_block(block) for block in self.content]
        return presentation

    def _describe_failure(self) -> str:
        why = self.error_message or self.error or "the tool failed without saying why"
        return f"Error: {why}"


def _present_block(block: TextBlock | ImageBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return block.model_dump()
    kind = block.source.get("media_type") or "of unknown type"
    size = len(str(block.source.get("data") or ""))
    return {"type": "text", "text": f"[image {kind}, {size} characters of data left out]"}


def _write(output: Any) -> str:
    if isinstance(output, str):
        return output
    try:
        if isinstance(output, dict | list):
            import json

            return json.dumps(output, ensure_ascii=False, default=str)
        return str(output)
    except Exception:  # noqa: BLE001 - cycles, great depth, odd keys, classes that raise
        from amplifier_core.utils import safe_repr

        return safe_repr(output)


def _drop_unsendable(text: str) -> str:
    """The text without control characters and lone surrogates, which no model takes."""
    # Through bytes, which is five times as fast as a regular expression over the text.
    clean = text.encode("utf-8", "ignore").translate(None, _CONTROLS)
    if _THEIR_FIRST_BYTE in clean:
        return _MORE_CONTROLS.sub("", clean.decode())
    return clean.decode()


_FIELDS = frozenset(ToolResult.model_fields)


def read_tool_result(answer: Any) -> ToolResult:
    """The ToolResult in what a tool or a hook handed back."""
    if isinstance(answer, ToolResult):
        return answer
    if isinstance(answer, dict) and "success" in answer and answer.keys() <= _FIELDS:
        return ToolResult.model_validate(answer)
    return ToolResult(output=answer)


def read_changed_result(left: Any) -> ToolResult:
    """The result that hooks left in place of a tool's own."""
    from amplifier_core.utils import describe_error

    try:
        return read_tool_result(left)
    except ValueError as error:
        return ToolResult.failed(f"A hook left no usable result: {describe_error(error)}")


def add_comments(result: ToolResult, comments: Iterable[str]) -> ToolResult:
    """The result behind what the person said when allowing the call."""
    said = "; ".join(comments)
    output = f"The user allowed this and said: {said}\n\n{result.get_serialized_output()}"
    return result.model_copy(update={"output": output})


class ApprovalRequest(BaseModel):
    """A question to an approval provider of the ecosystem."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    tool_name: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    risk_level: str
    timeout: float | None = Field(default=None, gt=0)


class ApprovalResponse(BaseModel):
    """Its answer."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    approved: bool
    reason: str | None = None
    remember: bool = False


ModuleType = Literal["orchestrator", "provider", "tool", "context", "hook", "resolver"]


class ModuleInfo(BaseModel):
    """A module that was found, and where it would be mounted."""

    model_config = ConfigDict(defer_build=True)

    id: str
    name: str
    version: str
    type: ModuleType
    mount_point: str
    description: str
    config_schema: dict[str, Any] | None = None


_DEFERRED = ConfigDict(defer_build=True)


class Pricing(BaseModel):
    """What a model costs, by the million tokens."""

    model_config = _DEFERRED

    input_per_million: float
    output_per_million: float
    cache_read_per_million: float | None = None
    cache_write_per_million: float | None = None
    currency: str = Field(default="USD", pattern=r"^[A-Z]{3}$")


class ModelInfo(BaseModel):
    """A model that a provider offers; its capabilities are those of `capabilities`."""

    model_config = _DEFERRED

    id: str
    display_name: str
    context_window: int
    max_output_tokens: int
    capabilities: list[str] = Field(default_factory=list)
    defaults: dict[str, Any] = Field(default_factory=dict)
    pricing: Pricing | None = None


class ConfigField(BaseModel):
    """One setting that a person is asked for when a provider is set up."""

    model_config = _DEFERRED

    id: str
    display_name: str
    field_type: Literal["text", "secret", "choice", "boolean"] = "text"
    prompt: str
    env_var: str | None = None
    choices: list[str] | None = None
    required: bool = True
    default: Any = None
    show_when: dict[str, str] | None = None
    requires_model: bool = False


class ProviderInfo(BaseModel):
    """A provider. Contexts read `context_window` and `max_output_tokens` in its defaults."""

    model_config = _DEFERRED

    id: str
    display_name: str
    credential_env_vars: list[str] = Field(default_factory=list)
    capabilities: list[str] = Field(default_factory=list)
    defaults: dict[str, Any] = Field(default_factory=dict)
    config_fields: list[ConfigField] = Field(default_factory=list)


class SessionStatus(BaseModel):
    """The figures of one session so far."""

    model_config = ConfigDict(defer_build=True)

    session_id: str
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    status: Literal["running", "completed", "failed", "cancelled"] = "running"
    total_messages: int = 0
    tool_invocations: int = 0
    tool_successes: int = 0
    tool_failures: int = 0
    total_input_tokens: int = 0
    total_output_tokens: int = 0
    cost_usd: CostUsd = None
    last_activity: datetime | None = None
    last_error: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures that are known, ready for JSON."""
        return self.model_dump(mode="json", exclude_none=True)
