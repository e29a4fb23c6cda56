"""The person of a replayed session: every question gets the answer that it got then."""

from __future__ import annotations

from amplifier_core.approval import (
    ApprovalAnswer,
    ApprovalQuestion,
    ApprovalTimeout,
    HandedOver,
)
from amplifier_core.errors import ApprovalError
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.questions import Asked, collect_questions
from amplifier_hooks.insight.replay.recording import Recording
from amplifier_hooks.trails import RecordedApproval


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
