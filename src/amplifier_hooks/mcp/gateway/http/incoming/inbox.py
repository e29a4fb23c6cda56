"""What clients have sent and the relay has not read yet."""

from __future__ import annotations

import asyncio

_WAITING = 1024


class Inbox:
    """Messages in their order, until the end."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)

    async def read(self) -> bytes | None:
        """The next message; None when no more will come, however often one asks."""
        found = await self._queue.get()
        if found is None:
            self._queue.put_nowait(None)
        return found

    async def put(self, raw: bytes) -> None:
        """Add a message, once there is room for it."""
        await self._queue.put(raw)

    def put_if_room(self, raw: bytes) -> None:
        """Add a message that nobody can wait for, unless there is no room."""
        if not self._queue.full():
            self._queue.put_nowait(raw)

    def end(self) -> None:
        """Nobody waits for answers to what is still here."""
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)
