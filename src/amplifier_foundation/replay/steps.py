"""What was done to a recorded session from outside: prompts, calls, and its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal

from amplifier_foundation.history import RecordedEvent
from amplifier_foundation.replay.recording import Run
from amplifier_foundation.replay.spans import Spans

Kind = Literal["prompt", "call", "compact", "cancel", "event"]

_BEGINS, _ENDS = "execution:start", "execution:complete"
_OWN_PROMPT = "stop_hook"
_FOLLOWS_ANYWHERE = frozenset(
    {
        "approval:denied",
        "approval:granted",
        "approval:required",
        "module:load_failed",
        "module:on_session_ready_failed",
        "policy:violation",
        "session:config",
        "session:end",
        "session:fork",
        "session:resume",
        "session:start",
    }
)
"""Events that the kernel tells of, whoever runs the agent."""
FOLLOWS = _FOLLOWS_ANYWHERE | {
    "agent:complete",
    "agent:spawn",
    "cancel:completed",
    "context:post_compact",
    "context:pre_compact",
    "decision:agent_resolution",
    "error:orchestration",
    "orchestrator:complete",
    "prompt:answer",
    "prompt:complete",
    "tool:error",
    "tool:post",
    "user:notification",
}
"""Events that a session of ours tells of by itself, as a consequence of something else."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody did."""

    kind: Kind
    event: RecordedEvent

    @property
    def data(self) -> dict[str, Any]:
        """What it was done with."""
        return self.event.data


def list_steps(run: Run) -> list[Step]:
    """The steps of one process, in order."""
    events = [one for one in run.items if isinstance(one, RecordedEvent) and not one.again]
    events = events[len(list_early(run.items)) :]
    spans = Spans(run.items)  # what happened inside of a call, its stand-in sees to
    events = [one for one in events if one.event != "tool:pre" or not spans.is_part(one)]
    if not _is_foreign(events):
        return list(_list_outside_turns(events))
    # Another program ran the agent, and told of the events one by one.
    called = {one.data.get("tool_call_id") for one in events if one.event == "tool:pre"}
    return [_make_step(one) for one in events if not _follows_anywhere(one, called)]


def _follows_anywhere(event: RecordedEvent, called: set[Any]) -> bool:
    """Whether the kernel tells of an event, though another program runs the agent."""
    if event.event in ("tool:post", "tool:error"):
        return event.data.get("tool_call_id") in called
    asks = event.data.get("notification_type") == "approval_required"
    return event.event in _FOLLOWS_ANYWHERE or (event.event == "user:notification" and asks)


def _is_foreign(events: list[RecordedEvent]) -> bool:
    """Whether no loop of ours took the prompts that hooks let through."""
    taken = [one for one in events if one.event == "prompt:submit" and one.action == "continue"]
    return bool(taken) and not any(one.event == _BEGINS for one in events)


def list_early(items: Iterable[Any]) -> list[RecordedEvent]:
    """The events before a session started, which its modules told of."""
    events = (one for one in items if isinstance(one, RecordedEvent) and not one.again)
    return list(takewhile(lambda one: one.event != "session:start", events))


def _list_outside_turns(events: list[RecordedEvent]) -> Iterator[Step]:
    inside = False
    for one in events:
        if one.event == "prompt:submit":
            if (one.data.get("metadata") or {}).get("source") != _OWN_PROMPT:
                yield Step("prompt", one)
        elif one.event in (_BEGINS, _ENDS):
            inside = one.event == _BEGINS
        elif not inside and (one.event not in FOLLOWS or _is_unknown_call(one)):
            yield _make_step(one)


def _make_step(event: RecordedEvent) -> Step:
    if event.event == "tool:pre" or _is_unknown_call(event):
        return Step("call", event)
    if event.event == "decision:context_resolution":
        return Step("compact", event)
    if event.event == "cancel:requested":
        return Step("cancel", event)
    return Step("event", event)


def _is_unknown_call(event: RecordedEvent) -> bool:
    """Whether somebody called a tool that is not there: no hook judged it before."""
    error = event.data.get("error")
    kind = error.get("type") if isinstance(error, dict) else ""
    return event.event == "tool:error" and kind == "InvalidToolCall"
