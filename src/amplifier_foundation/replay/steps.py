"""What was done to a recorded session from outside: prompts, calls, and its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

from amplifier_foundation.history import RecordedEvent
from amplifier_foundation.replay.recording import Run

Kind = Literal["prompt", "call", "compact", "cancel", "event"]

_BEGINS, _ENDS = "execution:start", "execution:complete"
_OWN_PROMPT = "stop_hook"
FOLLOWS = frozenset(
    {
        "agent:complete",
        "agent:spawn",
        "approval:denied",
        "approval:granted",
        "approval:required",
        "cancel:completed",
        "context:post_compact",
        "decision:agent_resolution",
        "decision:context_resolution",
        "error:orchestration",
        "module:load_failed",
        "module:on_session_ready_failed",
        "orchestrator:complete",
        "policy:violation",
        "prompt:answer",
        "prompt:complete",
        "session:config",
        "session:end",
        "session:fork",
        "session:resume",
        "session:start",
        "tool:error",
        "tool:post",
        "user:notification",
    }
)
"""Events that a session tells of by itself, as a consequence of something else."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody did."""

    kind: Kind
    event: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def list_steps(run: Run) -> list[Step]:
    """The steps of one process, in order."""
    events = [one for one in run.items if isinstance(one, RecordedEvent) and not one.again]
    events = events[len(list_early(run.items)) :]
    if any(one.event == _BEGINS for one in events):
        return list(_list_outside_turns(events))
    # No loop of ours ran in it: whoever did told of the events one by one.
    return [_make_step(one) for one in events if one.event not in FOLLOWS]


def list_early(items: Iterable[Any]) -> list[RecordedEvent]:
    """The events before a session started, which its modules told of."""
    events = (one for one in items if isinstance(one, RecordedEvent) and not one.again)
    return list(takewhile(lambda one: one.event != "session:start", events))


def _list_outside_turns(events: list[RecordedEvent]) -> Iterator[Step]:
    inside = False
    for one in events:
        if one.event == "prompt:submit":
            if (one.data.get("metadata") or {}).get("source") != _OWN_PROMPT:
                yield Step("prompt", data=one.data)
        elif one.event in (_BEGINS, _ENDS):
            inside = one.event == _BEGINS
        elif not inside and one.event not in FOLLOWS:
            yield _make_step(one)
        elif not inside and _is_unknown_call(one):
            yield Step("call", data=one.data)


def _make_step(event: RecordedEvent) -> Step:
    if event.event == "tool:pre":
        return Step("call", data=event.data)
    if event.event == "context:pre_compact":
        return Step("compact")
    if event.event == "cancel:requested":
        return Step("cancel", data=event.data)
    return Step("event", event.event, event.data)


def _is_unknown_call(event: RecordedEvent) -> bool:
    """Whether somebody called a tool that is not there: no hook judged it before."""
    error = event.data.get("error")
    kind = error.get("type") if isinstance(error, dict) else ""
    return event.event == "tool:error" and kind == "InvalidToolCall"
