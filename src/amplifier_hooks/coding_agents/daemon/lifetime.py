"""How long the resident process lives: while it is needed, and then until what is open is done."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)


class Lifetime:
    """Counts what is open, and says when to end and why."""

    def __init__(self, idle_seconds: float, close_doors: Callable[[], None]) -> None:
        self._idle_seconds = idle_seconds
        self._close_doors = close_doors
        self._ending = asyncio.Event()
        self._used = self.started = time.monotonic()
        self._open = 0

    @property
    def ending(self) -> bool:
        """Whether it has been decided that the process ends."""
        return self._ending.is_set()

    @contextlib.contextmanager
    def hold(self, *, use: bool = True) -> Iterator[None]:
        """Keep the process while something is open; with `use`, for its idle time after that."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if use:
                self._used = time.monotonic()

    def end(self, why: str) -> None:
        """Let the process end: from here on nobody new can come in."""
        if not self.ending:
            logger.info("The process ends: %s", why)
            self._close_doors()
            self._ending.set()

    async def wait(self, is_needed: Callable[[], bool]) -> None:
        """Return when the process is to end: somebody said so, or nobody needs it any more."""
        while not self.ending:
            left = self._used + self._idle_seconds - time.monotonic()
            if left <= 0:
                if not self._open and not is_needed():
                    # Nothing is awaited between the question and the closed doors.
                    self.end(f"no request for {self._idle_seconds:g} seconds")
                    return
                left = min(self._idle_seconds, 1.0)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._ending.wait()
