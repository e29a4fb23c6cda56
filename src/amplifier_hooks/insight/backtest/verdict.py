"""A verdict: what a set of hooks makes of one event, or made of it then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.events import is_notification
from amplifier_core.precedence import strongest
from amplifier_core.utils import describe_error
from amplifier_core.utils.describe import locate_failure
from amplifier_hooks.insight.backtest.gap import Look
from amplifier_hooks.trails import RecordedEvent

_CONTINUES = ("continue", "modify")


@dataclass(frozen=True, slots=True)
class Failure:
    """A hook that failed, with the reason and the line."""

    hook: str
    error: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """A hook that wants a person asked, and what it would ask."""

    hook: str
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of an event, and by whose answers; `left` is empty where nothing can change."""

    action: str
    left: dict[str, Any]
    hook: str = ""
    """Whose answer decided; empty if nobody said more than continue."""
    reason: str = ""
    asking: tuple[Asking, ...] = ()
    injecting: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    looks: tuple[Look, ...] = ()
    """Who looked at values that the trail does not have."""
    doubt: str = ""
    """Why a difference from this verdict says nothing."""


def read_recorded(event: RecordedEvent, left: dict[str, Any]) -> Verdict:
    """What became of an event then."""
    heeded = [one for one in event.answers if not one.unheeded]
    by_action = {
        action: tuple(one.hook for one in heeded if one.action == action)
        for action in ("deny", "ask_user", "inject_context", "modify")
    }
    action = _weigh(event.event, event.action)
    left = {} if is_notification(event.event) else left
    decided = next((hooks[0] for hooks in by_action.values() if hooks), "")
    return Verdict(
        action=action,
        left=left,
        hook=decided,
        reason=event.reason,
        asking=tuple(Asking(hook) for hook in by_action["ask_user"]) if action != "deny" else (),
        injecting=by_action["inject_context"],
        changing=by_action["modify"],
        failures=tuple(
            Failure(one.hook, str(one.error)) for one in heeded if one.error is not None
        ),
    )


def read_dispatch(run: Dispatch, looks: tuple[Look, ...], doubt: str = "") -> Verdict:
    """What hooks made of an event just now."""
    spoken = run.answers
    left = {} if is_notification(run.event) else run.data
    if not spoken:
        return Verdict("continue", left, looks=looks, doubt=doubt)
    first = strongest(spoken)
    assert first is not None
    action = _weigh(run.event, first.result.action)
    return Verdict(
        action=action,
        left=left,
        hook=first.hook if first.result.action != "continue" else "",
        reason=str(first.result.reason or ""),
        asking=tuple(_read_asking(one) for one in run.asking) if action != "deny" else (),
        injecting=_name(spoken, "inject_context"),
        changing=_name(spoken, "modify"),
        failures=tuple(_read_failure(one) for one in spoken if one.error is not None),
        looks=looks,
        doubt=doubt,
    )


def _weigh(event: str, action: str) -> str:
    """What an action does to an event: one that only tells of something cannot be stopped."""
    if action in _CONTINUES or (action != "inject_context" and is_notification(event)):
        return "continue"
    return action


def _name(spoken: list[Answer], action: str) -> tuple[str, ...]:
    return tuple(one.hook for one in spoken if one.result.action == action)


def _read_asking(answer: Answer) -> Asking:
    return Asking(answer.hook, str(answer.result.approval_prompt or ""))


def _read_failure(answer: Answer) -> Failure:
    error = answer.error
    assert error is not None
    place = locate_failure(error, answer.handler.handler)
    return Failure(answer.hook, describe_error(error), place)
