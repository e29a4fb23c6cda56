"""Work in the background, for which nobody waits, and turns of work that many want at once."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from amplifier_core.utils import describe_error

logger = logging.getLogger(__name__)


class BackgroundTasks:
    """The tasks of one module: limited in number, failures logged, all ended at clean-up."""

    def __init__(self, owner: str, limit: int = 100) -> None:
        self._owner = owner
        self._limit = limit
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Run `work` in the background; None if too much is running already."""
        if len(self._tasks) >= self._limit:
            work.close()
            logger.warning("%s has %d tasks under way; dropped one", self._owner, self._limit)
            return None
        # A context of its own: what it prints or emits later is no longer part of the hook's run.
        task = asyncio.get_running_loop().create_task(
            work, name=self._owner, context=contextvars.Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.warning("%s failed in the background: %s", self._owner, describe_error(error))

    async def close(self, grace: float = 0.0) -> None:
        """Give the tasks `grace` seconds, then cancel what is left and wait for its end."""
        if self._tasks and grace > 0:
            await asyncio.wait(self._tasks, timeout=grace)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


class Turns:
    """So many at once of each event loop; the others wait, and the loop does other things."""

    def __init__(self, at_once: int = 1) -> None:
        self._at_once = at_once
        self._by_loop: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it."""
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            # Who waited holds on to its loop, so that one is not forgotten by itself.
            for one in [one for one in list(self._by_loop) if one.is_closed()]:
                self._by_loop.pop(one, None)
            self._by_loop[loop] = asyncio.Semaphore(self._at_once)
        async with self._by_loop[loop]:
            yield
