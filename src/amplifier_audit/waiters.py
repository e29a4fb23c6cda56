"""Callers that wait until their record is on disk, each on its own event loop."""

from __future__ import annotations

import asyncio
import logging
import threading

from amplifier_audit.errors import AuditUnavailable

logger = logging.getLogger(__name__)
_Waiter = tuple[int, asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Waiters:
    """Added by the loops, released by the writer thread, a whole group with one call."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._lock = threading.Lock()
        self._waiting: list[_Waiter] = []
        self._releases = 0
        self._timed_by: asyncio.AbstractEventLoop | None = None

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, size: int) -> asyncio.Future[None]:
        """A future that is done when so many records are on disk."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        with self._lock:
            self._waiting.append((size, loop, done))
        if self._timed_by is not loop:
            self._watch(loop)
        return done

    def release(self, size: int) -> None:
        """Release everybody whose record is among the first `size`: those are on disk."""
        with self._lock:
            self._releases += 1
            ready = [waiter for waiter in self._waiting if waiter[0] <= size]
            self._waiting = [waiter for waiter in self._waiting if waiter[0] > size]
        _wake(ready, None)

    def fail(self, reason: str) -> None:
        """Tell everybody who waits now that it was in vain, and why."""
        with self._lock:
            waiters = self._waiting
            self._waiting = []
        _wake(waiters, reason)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """One timer for all who wait: with a timer each, waiting would cost more than syncing."""
        self._timed_by = loop
        loop.call_later(self._timeout, self._expire, loop, self._releases)

    def _expire(self, loop: asyncio.AbstractEventLoop, releases: int) -> None:
        """Nothing was acknowledged for too long: fail whoever waits; the log itself goes on."""
        self._timed_by = None
        if not self._waiting:
            return
        if self._releases != releases:
            self._watch(loop)
        else:
            self.fail(f"Nothing reached the disk for {self._timeout:g} s")


def _wake(waiters: list[_Waiter], reason: str | None) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for _, loop, done in waiters:
        loops.setdefault(loop, []).append(done)
    for loop, futures in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, futures, reason)
        except RuntimeError:
            logger.debug("A loop was closed while somebody waited for the audit trail")


def _settle(futures: list[asyncio.Future[None]], reason: str | None) -> None:
    for done in futures:
        if done.done():
            continue
        if reason is None:
            done.set_result(None)
        else:
            done.set_exception(AuditUnavailable(reason))
