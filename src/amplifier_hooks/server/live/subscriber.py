"""Somebody who looks: a bounded queue of what is still to be sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from amplifier_hooks.server.live.update import Update

QUEUE = 256


class Subscriber:
    """The queue of one socket or stream; whoever reads too slowly is cut off."""

    __slots__ = ("_queue", "after", "ended", "is_known", "on_end", "session")

    def __init__(self, is_known: Callable[[], Awaitable[bool]]) -> None:
        self.is_known = is_known
        """Whether the credential still holds."""
        self.session = ""
        self.after = 0
        """The number of the last record of that session that was put into the queue."""
        self.ended = 0
        """The code to close with, as soon as there is one."""
        self.on_end: Callable[[], object] = lambda: None
        """Called when it ends: whoever sends may be stuck, because nobody reads."""
        self._queue: asyncio.Queue[Update | None] = asyncio.Queue()

    def offer(self, update: Update) -> None:
        """Put something into the queue; if it is full, empty it and end."""
        if self.ended:
            return
        if self._queue.qsize() >= QUEUE:
            self.end(1013)
        else:
            self._queue.put_nowait(update)

    def end(self, code: int) -> None:
        """Send nothing more."""
        if self.ended:
            return
        self.ended = code
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)
        self.on_end()

    async def take(self) -> Update | None:
        """The next thing to send; None once it has ended."""
        if self.ended:
            return None
        return await self._queue.get()
