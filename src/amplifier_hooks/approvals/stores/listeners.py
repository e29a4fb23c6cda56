"""Whoever listens to changes in this process, and how news reaches them from any thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

from amplifier_hooks.approvals.stores.engine import ANY, Change

LIMIT = 1024
"""How many changes wait for a slow listener before they become one `*`."""

SOMETHING = Change(ANY, ANY)


class Listeners:
    """Everybody in this process who wants to hear of changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[_Listener] = []

    def __bool__(self) -> bool:
        """Whether anybody listens."""
        return bool(self._open)

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[Change]]:
        """Hear of changes from here on, until the block is left or `close` is called."""
        listener = _Listener(asyncio.get_running_loop())
        with self._lock:
            self._open.append(listener)
        try:
            yield listener
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._open.remove(listener)

    def publish(self, changes: Sequence[Change]) -> None:
        """Tell everybody; may be called from any thread."""
        with self._lock:
            listeners = tuple(self._open)
        for listener in listeners:
            listener.send(changes)

    def close(self) -> None:
        """End every iteration; who listens sees the end of the changes."""
        with self._lock:
            listeners, self._open = self._open, []
        for listener in listeners:
            listener.send(None)


class _Listener:
    """One iteration over changes, in the loop where it began."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Change] = deque()
        self._news = asyncio.Event()
        self._ended = False

    def send(self, changes: Iterable[Change] | None) -> None:
        # A loop that was closed has nobody left to tell.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take, changes)

    def _take(self, changes: Iterable[Change] | None) -> None:
        if changes is None:
            self._ended = True
        else:
            self._waiting.extend(changes)
        if len(self._waiting) > LIMIT:
            self._waiting.clear()
            self._waiting.append(SOMETHING)
        self._news.set()

    def __aiter__(self) -> _Listener:
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()
