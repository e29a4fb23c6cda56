"""Answers of hooks, probable mistakes of their authors, and the outcome of the operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from amplifier_core.errors import HookTimeout, InvalidHookResult
from amplifier_core.events import is_notification, name_subject, stops
from amplifier_core.models import (
    CONTINUE,
    Action,
    HookResult,
    continue_with,
    find_problem,
    replace_fields,
)
from amplifier_core.utils.text import describe_cause

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


class HookProblem(NamedTuple):
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


IN_PLACE = (
    "changed its data in place; the change is dropped. "
    "Return HookResult(action='modify', data=...) to make it count"
)
NO_PROMPT = (
    "answered 'ask_user' without an approval_prompt, so the person is asked 'Allow this operation?'"
)
_LOSES = (
    "answered 'modify' without {}, so later hooks and the operation do not have it. "
    "Return data={{**data, ...}} to keep what is not changed"
)
NO_SAY = "answered {!r}, which has no effect: with parallel=True it only observes"
NO_TEXT = "answered 'inject_context' without a context_injection, so nothing is injected"

# True in the data of a hook that is called once more after a wait: who counts, counts once.
JUDGED_AGAIN = "judged_again"

# In the data of a hook that is called although one before it denied: the name of that one.
DENIED_BY = "denied_by"

# What `modify` cannot change; a dict, because it is asked by name and has an order.
PINNED = dict.fromkeys(("timestamp", "session_id", JUDGED_AGAIN, DENIED_BY))

# Fields that the registry adds; an answer may leave them out.
_ADDED = frozenset({"parent_id", *PINNED})


def find_omission(result: HookResult, data: Mapping[str, Any]) -> str | None:
    """What an answer leaves out although its action lives by it."""
    if result.action == "modify":
        lost = sorted(map(str, data.keys() - (result.data or {}).keys() - _ADDED))
        if lost:
            return _LOSES.format(", ".join(map(repr, lost)))
        return None
    if result.action == "ask_user":
        if result.approval_prompt:
            return None
        return NO_PROMPT
    if result.action == "inject_context":
        told = result.context_injection or any(one.content for one in result.context_injections)
        if told:
            return None
        return NO_TEXT
    return None


ASKED_ELSEWHERE = "the question was handed over, and nobody asks it before this runs"
"""Why an operation does not run that another program was to ask about."""


class Outcome(NamedTuple):
    """What became of an operation, and why."""

    allowed: bool
    data: dict[str, Any] | None = None
    hook: str = ""
    reason: str = ""
    digest: str = ""  # of what a person allowed; empty when no person was asked
    comments: tuple[str, ...] = ()  # what people said when they allowed it
    answers: tuple[Any, ...] = ()  # what hooks said, for an operation that carries it out itself
    handed_over: bool = False  # another program asks its person before it runs this

    @property
    def denial(self) -> str:
        """The sentence that the agent reads of a denied operation."""
        return describe_denial(self.hook or "a hook", self.reason)

    def to_result(self) -> HookResult:
        """The outcome in the public form: `continue` with the data, or `deny`."""
        if not self.allowed:
            return HookResult(action="deny", reason=self.reason, data=self.data)
        if self.handed_over:
            return HookResult(action="deny", reason=ASKED_ELSEWHERE)
        result = continue_with(self.data)
        if self.comments:
            return replace_fields(result, reason="; ".join(self.comments))
        return result


def describe_denial(hook: str, reason: str) -> str:
    """What the agent reads about a denied operation."""
    return f"Operation denied by {hook}: {reason or 'no reason given'}"


def withdraw(result: HookResult) -> HookResult:
    """What is left of a result that has no effect: a message with no action, or nothing at all."""
    if result.action == "continue":
        if result.data is None:
            return result
        return replace_fields(result, data=None)
    return replace_fields(continue_with(None), suppress_output=result.suppress_output)


def describe_failure(event: str, cause: str, place: str, denies: bool) -> str:
    """`failed on tool:pre: KeyError: 'path' (guard.py:12); the call was not stopped`."""
    failed = f"failed on {event}: {cause}" + (f" ({place})" if place else "")
    effect = _describe_effect(event, denies)
    if effect:
        return f"{failed}; {effect}"
    return failed


def _describe_effect(event: str, denied: bool) -> str:
    if is_notification(event):  # there is nothing to stop
        return ""
    return f"{name_subject(event)} was {'denied' if denied else 'not stopped'}"


def describe_shadowed(event: str, result: HookResult) -> str:
    """`would have denied the call: it deletes files`; empty if it would have had no effect."""
    if result.action == "inject_context":
        items = [result.context_injection, *(one.content for one in result.context_injections)]
        text = "\n\n".join(dict.fromkeys(one for one in items if one))
        if text:
            return f"would have told the agent: {text}"
        return ""
    if result.action == "deny" and event in stops:
        return f"would have made the agent go on: {result.reason or 'no reason given'}"
    if is_notification(event):
        return ""
    subject = name_subject(event)
    if result.action == "deny":
        return f"would have denied {subject}: {result.reason or 'no reason given'}"
    if result.action == "ask_user":
        return f"would have asked about {subject}: {result.approval_prompt or result.reason or ''}"
    return f"would have changed {subject}"


def explain_refusal(prompt: str, decision: Any) -> str:
    """Why an operation that needed a yes was not allowed, for the agent."""
    if decision.how == "timeout":
        return f"Timeout - denied by default: {prompt}"
    if decision.how in ("person", "cache"):
        said = f"The user said: {decision.comment}\n" if decision.comment else ""
        return f"{said}User denied: {prompt}"
    if decision.how == "rule":
        return f"Denied by {decision.by}: {decision.comment or prompt}"
    if decision.how == "nobody":
        return f"{decision.detail} to ask: {prompt}"
    return f"Not approved, {decision.detail}: {prompt}"
