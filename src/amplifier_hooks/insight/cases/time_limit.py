"""A time limit that also ends code which never gives the event loop back."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

_GRACE = 0.5
"""Seconds after the limit in which code that waits is cancelled; then it is interrupted."""

_AGAIN = 0.1
"""Seconds between interruptions: the first one may have been caught."""

_SIGNAL = getattr(signal, "SIGRTMAX", getattr(signal, "SIGUSR1", 0))
"""One that hardly anybody else uses: pytest-timeout has the alarm, faulthandler often SIGUSR1."""


class Blocked(BaseException):
    """Raised inside code that blocks the loop. No `except Exception` must catch it."""


@asynccontextmanager
async def limit_time(seconds: float) -> AsyncIterator[None]:
    """End what is awaited inside after so many seconds: TimeoutError, or Blocked if it blocks."""
    with _interrupt_after(seconds + _GRACE):
        async with asyncio.timeout(seconds):
            yield


@contextmanager
def _interrupt_after(seconds: float) -> Iterator[None]:
    if not _can_interrupt():
        yield  # what awaits is ended all the same
        return
    over = threading.Event()
    thread_id = threading.get_ident()

    def interrupt(*_: Any) -> None:
        if not over.is_set():
            raise Blocked

    def wait() -> None:
        delay = seconds
        while not over.wait(delay):
            signal.pthread_kill(thread_id, _SIGNAL)
            delay = _AGAIN

    before = signal.signal(_SIGNAL, interrupt)
    watcher = threading.Thread(target=wait, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        signal.signal(_SIGNAL, before)


def _can_interrupt() -> bool:
    """Whether there is such a signal, which reaches the main thread only."""
    return bool(_SIGNAL) and threading.current_thread() is threading.main_thread()
