"""An event loop whose clock does not wait: where nothing else is left to do, the next timer is due.

A retry that waited a minute, or a deadline of five, costs nothing when a session is replayed, and
the order in which timers end is the same each time.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

_POLL = 0.05
"""Seconds that the loop waits at once for threads, which run in real time."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop with a clock of its own, which stands still while something can be done."""

    def __init__(self) -> None:
        self._now = 0.0
        self._threads = 0
        self.on_idle: Callable[[], bool] = lambda: False
        """Called when everybody waits, before time passes; True if it has found something to do."""
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Seconds since the loop was made, most of which never passed."""
        return self._now

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """As usual; timers wait for threads as they would elsewhere."""
        future = super().run_in_executor(executor, func, *args)
        self._threads += 1
        future.add_done_callback(self._end_thread)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """As usual, without a limit: it would pass at once while the threads end in real time."""
        await super().shutdown_default_executor()

    def _end_thread(self, _: object) -> None:
        self._threads -= 1

    def wait(self, real: selectors.BaseSelector, timeout: float | None) -> list[Any]:
        """Wait for files as a selector does, or let the time pass at once."""
        if timeout is not None and timeout <= 0:
            return real.select(0)
        if self._threads:
            started = time.monotonic()
            found = real.select(_POLL if timeout is None else min(timeout, _POLL))
            self._now += time.monotonic() - started
            return found
        found = real.select(0)
        if not found and not self.on_idle():
            if timeout is None:
                return real.select(_POLL)
            self._now += timeout
        return found


class _Selector(selectors.BaseSelector):
    """A selector whose waiting is up to the loop."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._real = selectors.DefaultSelector()
        self._loop = loop

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return self._loop.wait(self._real, timeout)

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Any:
        return self._real.get_map()
