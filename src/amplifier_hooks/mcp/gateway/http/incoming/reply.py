"""What goes out to a client in answer to one of its HTTP requests: one message, or several."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection

from amplifier_hooks.guards.mcp.frames import LARGEST

LARGEST_BACKLOG = 2 * LARGEST
"""Bytes that wait for a client that does not read; it is given up if there are more."""


class Reply:
    """Messages for one answer, in the order in which they came."""

    def __init__(self, waits_for: Collection[str], *, takes_events: bool) -> None:
        self.open = set(waits_for)
        """The keys of the requests that are not answered yet."""
        self.takes_events = takes_events
        """Whether the client takes several messages, or just the answer."""
        self.is_ended = False
        self.is_overrun = False
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def add(self, raw: bytes) -> None:
        """A message that goes with it."""
        if self.takes_events and not self.is_ended:
            self._put(raw)

    def answer(self, key: str, raw: bytes) -> None:
        """The response to one of its requests; it ends with the last."""
        self.open.discard(key)
        self._put(raw)
        if not self.open:
            self.end()

    def end(self) -> None:
        """No more will come."""
        self.is_ended = True
        self._news.set()

    async def wait_for_end(self) -> None:
        """Until no more will come."""
        while not self.is_ended:
            self._news.clear()
            await self._news.wait()

    async def wait(self) -> None:
        """Until there is a message, or no more will come."""
        while not self._waiting and not self.is_ended:
            self._news.clear()
            await self._news.wait()

    def take(self) -> bytes | None:
        """The next message, if there is one."""
        if not self._waiting:
            return None
        raw = self._waiting.popleft()
        self._size -= len(raw)
        return raw

    @property
    def is_lone_answer(self) -> bool:
        """Whether it is one message, and no more will come."""
        return self.is_ended and len(self._waiting) == 1

    @property
    def is_taken(self) -> bool:
        """Whether nothing is left and nothing will come."""
        return self.is_ended and not self._waiting

    def _put(self, raw: bytes) -> None:
        if self._size + len(raw) > LARGEST_BACKLOG and self._waiting:
            self.is_overrun = True
            self._waiting.clear()
            self.end()
            return
        self._waiting.append(raw)
        self._size += len(raw)
        self._news.set()
