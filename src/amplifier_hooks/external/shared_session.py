"""One session for several runs of a framework: each of them is a turn of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar

from amplifier_hooks.external.run import Run

Open = Callable[[], Awaitable[Run]]


class SharedSession:
    """Opened by the first run, used by all that begin in the same block, and ended with it."""

    def __init__(self, governor: object) -> None:
        self.governor = governor
        self.run: Run | None = None
        self.is_over = False
        """Whether its block was left; a task that was started there may live on."""
        self._changing = threading.Lock()
        self._opening: Future[None] | None = None

    async def find_run(self, open_run: Open) -> Run:
        """The run behind all of them; those that begin at the same time wait for the first."""
        while True:
            with self._changing:
                if self.run is not None and not self.run.has_ended:
                    return self.run
                first, mine = self._opening, Future[None]()
                if first is None:
                    self._opening = mine
            if first is None:
                return await self._open(open_run, mine)
            # Who stops waiting does not stop the others.
            await asyncio.shield(asyncio.wrap_future(first))

    async def _open(self, open_run: Open, opening: Future[None]) -> Run:
        try:
            self.run = run = await open_run()
            run.is_shared = True
            return run
        finally:
            self._opening = None
            opening.set_result(None)


shared_session: ContextVar[SharedSession | None] = ContextVar("amplifier_shared", default=None)
"""The one that runs begin in here, if they share one."""
