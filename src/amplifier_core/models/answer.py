"""What a hook answered, and the HookResult in what its handler returned."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from amplifier_core.errors import HookTimeout, InvalidHookResult
from amplifier_core.models.hook_result import CONTINUE, Action, HookResult, find_problem
from amplifier_core.utils.describe import describe_cause

_ACTIONS = frozenset(get_args(Action))


class Answer(NamedTuple):
    """What one hook said, and how it came to say it."""

    handler: Any  # its registration
    result: HookResult
    error: BaseException | None = None
    left: dict[str, Any] | None = None  # the data after it, if it changed them

    @property
    def hook(self) -> str:
        return str(self.handler.name)

    @property
    def timed_out(self) -> bool:
        return isinstance(self.error, HookTimeout)


class Trouble(NamedTuple):
    """What the author of a hook should know: it failed, or it did what has no effect."""

    handler: Any
    error: BaseException | None
    advice: str = ""


def explain_unusable(error: Exception) -> InvalidHookResult:
    """Why the data that a hook left cannot be taken over."""
    return InvalidHookResult(f"left data that cannot be used: {describe_cause(error)}")


def read_answer(answer: Any) -> HookResult:
    """The HookResult in what a handler returned; None and dicts are understood.

    An answer that says nothing is `CONTINUE` itself.
    """
    if answer is None or answer is CONTINUE:
        return CONTINUE
    if isinstance(answer, dict):
        answer = _read_dict(answer)
    if not isinstance(answer, HookResult):
        raise InvalidHookResult(f"returned {type(answer).__name__}, not a HookResult")
    if answer.is_silent:
        return CONTINUE
    # `model_copy` and `model_construct` go past validation, so nothing of a result is certain.
    if answer.action not in _ACTIONS:
        raise InvalidHookResult(f"answered the unknown action {answer.action!r}")
    if answer.action == "modify" and not isinstance(answer.data, dict):
        raise InvalidHookResult("answered 'modify' without a dict in data")
    if answer.action == "inject_context" and (problem := find_problem(answer)):
        raise InvalidHookResult(f"wants to inject something that is not text: {problem}")
    return answer


def _read_dict(answer: dict[Any, Any]) -> HookResult:
    try:
        return HookResult(**answer)
    except (ValidationError, TypeError) as error:
        why = describe_cause(error).partition(": ")[2]
        raise InvalidHookResult(f"returned a dict that is not a HookResult: {why}") from error
