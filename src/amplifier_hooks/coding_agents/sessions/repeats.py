"""One event that comes by several lines: it is judged once, and each line gets the same answer.

A program that runs what is installed for itself and for another agent calls us once for each. Which
line an event came by tells such a repetition from a second event of the same content.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from amplifier_core.utils import digest
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict

_LONGEST_GAP = 10.0
"""Seconds between the answer to one line and the question by the next."""

_MOST = 256
_CONTENT = ("tool_name", "tool_input", "tool_result", "error", "prompt")


@dataclass(slots=True)
class _Event:
    lines: set[str]
    verdict: asyncio.Future[Verdict] = field(default_factory=asyncio.Future)
    ended: float | None = None

    def is_repeated_by(self, line: str) -> bool:
        fresh = self.ended is None or time.monotonic() - self.ended < _LONGEST_GAP
        return line not in self.lines and fresh and not self.verdict.cancelled()


class Repeats:
    """Remembers events for a moment."""

    def __init__(self) -> None:
        self._events: dict[str, _Event] = {}

    async def judge_once(
        self, incoming: Incoming, line: str, judge: Callable[[], Awaitable[Verdict]]
    ) -> Verdict:
        """What `judge` says; or what it said about this event when it came by another line.

        Texts and messages have gone out with the first answer.
        """
        key = _name(incoming, incoming.data)
        known = self._events.get(key)
        if known is not None and known.is_repeated_by(line):
            known.lines.add(line)
            verdict = await asyncio.shield(known.verdict)
            return replace(verdict, context=(), notes=())
        event = self._events[key] = _Event({line})
        self._forget_oldest()
        return await self._judge(event, incoming, judge)

    async def _judge(
        self, event: _Event, incoming: Incoming, judge: Callable[[], Awaitable[Verdict]]
    ) -> Verdict:
        try:
            verdict = await judge()
        except BaseException:
            event.verdict.cancel()  # whoever waits for it has no verdict either
            raise
        event.verdict.set_result(verdict)
        event.ended = time.monotonic()
        if verdict.tool_input is not None:
            # Programs that call their hooks in order show the next one the changed input.
            changed = _Event(set(event.lines), ended=event.ended)
            changed.verdict.set_result(replace(verdict, tool_input=None))
            data = {**incoming.data, "tool_input": verdict.tool_input}
            self._events[_name(incoming, data)] = changed
        return verdict

    def _forget_oldest(self) -> None:
        surplus = len(self._events) - _MOST
        for key in list(self._events)[: max(surplus, 0)]:
            del self._events[key]


def _name(incoming: Incoming, data: dict[str, object]) -> str:
    content = {key: data[key] for key in _CONTENT if key in data}
    named = [incoming.session_id, incoming.agent_id, incoming.event]
    return digest({"event": named, "content": content})
