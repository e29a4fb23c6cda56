"""The person of a replayed session: every question gets the answer that it got then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    HandedOver,
)
from amplifier_core.errors import ApprovalError
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import Recording
from amplifier_hooks.trails import RecordedApproval, RecordedEvent


@dataclass(slots=True)
class Asked:
    """A recorded question and how it ended, if it did."""

    request: RecordedApproval
    end: RecordedApproval | None = None
    edited_input: dict[str, Any] | None = None


def collect_questions(items: Iterable[Any]) -> list[Asked]:
    """The questions of a session, each with its end and what a person changed."""
    found: list[Asked] = []
    edited: list[Asked] = []
    for item in items:
        if isinstance(item, RecordedApproval):
            if item.stage == "requested":
                found.append(Asked(item))
            elif item.stage != "outcome" and (asked := _find_open(found, item)) is not None:
                asked.end = item
                edited += [asked] if item.edited else []
        elif isinstance(item, RecordedEvent):
            edited = [one for one in edited if not _take_edit(one, item)]
    return found


def _find_open(found: list[Asked], end: RecordedApproval) -> Asked | None:
    for one in found:
        same = one.request.digest == end.digest and one.request.hook == end.hook
        if one.end is None and same and end.stage != "remembered":
            return one
    return None


def _take_edit(asked: Asked, event: RecordedEvent) -> bool:
    """Find what a person made of an input: it was judged next."""
    same_call = event.data.get("tool_call_id") == asked.request.call_id
    if event.event != asked.request.event or not event.again or not same_call:
        return False
    given = event.data.get("tool_input")
    asked.edited_input = given if isinstance(given, dict) else None
    return True


class RecordedApprovals:
    """An approval system that repeats what a recording tells of decisions."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._asked = {
            session: collect_questions(items)
            for session, items in playback.recording.sessions.items()
        }

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        """Answer as it was answered then; for ever open if nobody ever did."""
        asked = self._take(question)
        if asked is None:
            raise ApprovalError("nobody was asked this when the session was recorded")
        end = asked.end
        closes = end is not None and end.stage != "cancelled"
        await self._playback.wait(
            asked.request.sequence, end.sequence if end is not None and closes else None
        )
        assert end is not None
        if end.stage == "handed_over":
            return HandedOver(end.to, goes_on=end.goes_on)
        if end.how == "timeout":
            raise ApprovalTimeout(end.detail)
        if not end.decision:
            raise ApprovalError(end.detail or "nobody decided")
        return ApprovalAnswer(end.decision, end.by or None, end.comment or None, asked.edited_input)

    def _take(self, question: ApprovalQuestion) -> Asked | None:
        waiting = self._asked.get(self._playback.find_session(question.session_id), [])
        own = [one for one in waiting if one.request.hook == question.hook]
        best = max(own, key=lambda one: _rate(one.request, question), default=None)
        if best is not None:
            waiting.remove(best)
        return best


def _rate(asked: RecordedApproval, question: ApprovalQuestion) -> tuple[bool, bool, bool]:
    """How much of a recorded question is in this one."""
    return (
        asked.digest == question.digest,
        asked.call_id == question.tool_call_id,
        asked.prompt == question.prompt,
    )


def has_nobody(recording: Recording) -> bool:
    """Whether the recorded session had nobody to ask."""
    return any(
        isinstance(item, RecordedApproval) and item.how == "nobody"
        for items in recording.sessions.values()
        for item in items
    )
