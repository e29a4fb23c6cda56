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

_SIGNAL = getattr(signal, "SIGUSR1", None)
"""Not the alarm of the system: pytest-timeout has that one."""


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
    if _SIGNAL is None or threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only; what awaits is ended all the same
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
