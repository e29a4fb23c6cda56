"""From where to where tools ran, and what happened inside of a call.

A call that began while another one ran, and was over before that ended, is taken for a part of it.
Of calls that ran side by side, each is made once either way. A call that a person was asked about
and that never ran was over when the question was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amplifier_hooks.insight.replay.questions import collect_questions
from amplifier_hooks.trails import RecordedCall, RecordedEvent

Span = tuple[int, float]
_NEVER = float("inf")


class Spans:
    """The calls of one session."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._calls: list[tuple[str, int, float]] = []
        open_calls: dict[str, int] = {}
        items = list(items)
        self._questions = collect_questions(items)
        for item in items:
            if not isinstance(item, RecordedCall):
                continue
            if item.stage == "started":
                open_calls[item.call_id] = len(self._calls)
                self._calls.append((item.call_id, item.sequence, _NEVER))
            elif item.call_id in open_calls and item.outcome != "unknown":
                place = open_calls.pop(item.call_id)
                self._calls[place] = (*self._calls[place][:2], item.sequence)

    def is_part(self, event: RecordedEvent) -> bool:
        """Whether an event happened inside of a call that came to its end."""
        return any(
            end != _NEVER and self.is_inside(event, (begin, end)) for _, begin, end in self._calls
        )

    def is_inside(self, event: RecordedEvent, span: Span) -> bool:
        """Whether an event happened, and what it began was over, from here to there."""
        begin, end = span
        return begin < event.sequence and self._find_end(event) < end

    def _find_end(self, event: RecordedEvent) -> float:
        if event.event != "tool:pre":
            return event.sequence
        call = event.data.get("tool_call_id")
        own = (one for one in self._calls if one[0] == call and one[1] > event.sequence)
        return next((end for _, _, end in own), self._find_last_answer(event, call))

    def _find_last_answer(self, event: RecordedEvent, call: object) -> float:
        """Where the questions about a call ended that never ran; at once if there were none."""
        asked = [
            one
            for one in self._questions
            if one.request.call_id == call and one.request.sequence > event.sequence
        ]
        ends = (_NEVER if one.end is None else one.end.sequence for one in asked)
        return max(ends, default=event.sequence)
