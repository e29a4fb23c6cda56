"""What a hook answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import BaseModel, Field, ValidationError, field_validator

from amplifier_core.utils.suggest import find_slip

logger = logging.getLogger(__name__)

Action = Literal["continue", "deny", "modify", "inject_context", "ask_user"]
Role = Literal["system", "user", "assistant"]
Level = Literal["info", "warning", "error"]
Decision = Literal["allow", "deny"]

DEFAULT_APPROVAL_OPTIONS = ("Allow", "Deny")

_ModelType = type(BaseModel)


class _Interning(_ModelType):  # type: ignore[misc, valid-type]
    """Hands out one shared instance for the answer nearly every hook gives."""

    def __call__(cls, *, action: Any = "continue", **given: Any) -> Any:  # noqa: C901 - see below
        if cls is not HookResult:
            _judge_unknown(given, cls.model_fields)
            return super().__call__(action=action, **given)
        if not given:
            if action == "continue":
                return CONTINUE
        elif len(given) == 1 and action == "modify" and "data" in given:
            # The usual change, in this frame, because each costs as much as a copy.
            data = given["data"]
            if type(data) is dict and type(action) is str:
                for key in data:
                    if type(key) is not str:
                        break
                else:
                    values = _CHANGED.copy()
                    values["data"] = data.copy()
                    values["context_injections"] = []
                    changed: Any = _new(HookResult)
                    _set_values(changed, values)
                    return changed
        result = _fill_fitting(action, given)
        if result is not None:
            return result
        given["action"] = action
        # Past `__init__`, which only costs time here.
        result = cls.__pydantic_validator__.validate_python(given)
        if len(result.__pydantic_fields_set__) != len(given):
            _judge_unknown(given, _DEFAULTS)
        return result


def _fill_fitting(action: Any, given: Mapping[str, Any]) -> HookResult | None:
    """The new result, if validation would leave what is given as it is; else None."""
    if type(action) is not str or action not in _ACTIONS:
        return None
    values = _DEFAULTS.copy()
    values["action"] = action
    values["context_injections"] = []
    for name, value in given.items():
        kind = type(value)
        if kind is dict and name == "data":
            for key in value:
                if type(key) is not str:
                    return None
            values["data"] = value.copy()
            continue
        fitting = _FITTING.get(name, _NOTHING)
        if kind not in fitting and (kind is not str or value not in fitting):
            return None
        values[name] = value
    result: HookResult = _new(HookResult)
    _set_values(result, values)
    _set_given(result, {"action", *given})
    return result


_warned_of: set[str] = set()


def _judge_unknown(given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a field that is misspelled; one of a newer version is passed over with a warning."""
    for name in filter(_is_text, given.keys() - set(known)):
        meant = find_slip(name, known)
        if meant is not None:
            raise _refuse_field(name, meant, given[name])
        if name not in _warned_of:
            _warned_of.add(name)
            logger.warning("HookResult has no field %r; it is ignored", name)


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def _refuse_field(name: str, meant: str, value: Any) -> ValidationError:
    from pydantic_core import InitErrorDetails, PydanticCustomError

    text = f"HookResult has no field {name!r}; did you mean {meant!r}?"
    kind = PydanticCustomError("unknown_field", text)
    error: InitErrorDetails = {"type": kind, "loc": (name,), "input": value}
    return ValidationError.from_exception_data("HookResult", [error])


# Built when the first value is validated: a process that only routes events starts faster. All of
# it is said in class arguments, where type checkers look.
class ContextInjection(BaseModel, frozen=True, extra="ignore", defer_build=True):
    """One of several injections in a single answer."""

    content: str
    role: Role = "system"
    ephemeral: bool = False
    append_to_last_tool_result: bool = False
    hook_name: str = "unknown"
    event: str = ""


# A checker that met the metaclass would check no argument.
_METACLASS: dict[str, Any] = {} if TYPE_CHECKING else {"metaclass": _Interning}


class HookResult(BaseModel, frozen=True, extra="ignore", defer_build=True, **_METACLASS):
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

    @classmethod
    def model_validate(cls, obj: Any, **settings: Any) -> Self:
        """As pydantic does it; a misspelled field is refused here too."""
        if isinstance(obj, Mapping):
            _judge_unknown(obj, cls.model_fields)
        return super().model_validate(obj, **settings)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """As pydantic does it; a misspelled field is refused here too."""
        from pydantic_core import from_json

        result = super().model_validate_json(json_data, **settings)
        _judge_unknown(from_json(json_data), cls.model_fields)
        return result

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic does it; a misspelled field is refused here too."""
        _judge_unknown(update or {}, type(self).model_fields)
        return super().model_copy(update=update, deep=deep)

    @field_validator("context_injections", mode="before")
    @classmethod
    def _read_none_as_none_of_them(cls, value: Any) -> Any:
        return [] if value is None else value

    # In `__dict__`, as pydantic keeps cached properties: not a field, so it takes no part in
    # equality, serialisation or validation.
    @cached_property
    def _origin(self) -> object:
        """The dispatch that this result was folded from; None for what a hook answered."""
        return None

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

    else:

        def __getattr__(self, name):
            """What a result filled by the kernel leaves empty reads as validation's None."""
            if name in ("__pydantic_extra__", "__pydantic_private__"):
                return None
            if name == "__pydantic_fields_set__":
                # Said when somebody asks, because a set costs more than all fields together.
                origin = self.__dict__.get("_origin")
                _set_given(self, {"action", "data"} if origin is None else origin.list_given())
                return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


# Validation costs more than a whole emit, so the kernel fills results it has already checked
# directly: the model's own slots, in the same state that validation leaves them in.
_new = object.__new__
_set_values = BaseModel.__dict__["__dict__"].__set__
_set_given = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_DEFAULTS: dict[str, Any] = {name: field.default for name, field in HookResult.model_fields.items()}
_CHANGED: dict[str, Any] = {**_DEFAULTS, "action": "modify"}

# For each field the types, or the words, that validation takes as they are. Of those that hold
# others (`data` apart) none is listed: validation looks into them and copies them.
_FITTING: dict[str, frozenset[Any]] = {
    name: frozenset(get_args(field.annotation) or (field.annotation,))
    for name, field in HookResult.model_fields.items()
    if name != "context_injections"
}
_ACTIONS = _FITTING["action"]
_NOTHING: frozenset[Any] = frozenset()


def continue_with(
    data: dict[str, Any] | None, said: HookResult | None = None, origin: object = None
) -> HookResult:
    """`HookResult(action="continue", data=data)` for data that is known to be a dict.

    With `said` it is what is left of that result once its origin has taken it in. Which fields
    were given is told when somebody asks: see `__getattr__`.
    """
    if said is None:
        values = _DEFAULTS.copy()
    else:
        values = said.__dict__.copy()
        values["action"] = "continue"
        values["_origin"] = origin
    values["data"] = data
    values["context_injections"] = []
    result: HookResult = _new(HookResult)
    _set_values(result, values)
    return result


class _NoInjections(list[ContextInjection]):
    """The empty list of the one result that all hooks share: what one adds, all would have."""

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("A HookResult is frozen; pass context_injections=[...] to its constructor")

    append = extend = insert = __iadd__ = __setitem__ = _refuse


CONTINUE: HookResult = continue_with(None)
CONTINUE.__dict__["context_injections"] = _NoInjections()


def replace_fields(result: HookResult, **changes: Any) -> HookResult:
    """A new result with some fields changed. The caller vouches for their types."""
    values = result.__dict__.copy()
    values.update(changes)
    fresh: HookResult = _new(HookResult)
    _set_values(fresh, values)
    _set_given(fresh, result.__pydantic_fields_set__.union(changes))
    return fresh


def attach_origin(result: HookResult, origin: object) -> HookResult:
    """The result, which nobody else holds yet, with the dispatch that it was folded from."""
    result.__dict__["_origin"] = origin
    return result


def find_problem(result: HookResult) -> str | None:
    """What is wrong with a result that was copied or built past its validation."""
    try:
        fields = {**result.__dict__, "data": None}
        HookResult.__pydantic_validator__.validate_python(fields, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None
