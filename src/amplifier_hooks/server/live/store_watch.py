"""Whether the store answers: asked every second, said when it changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from amplifier_hooks.approvals.errors import StoreError

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.engine import Engine

logger = logging.getLogger(__name__)

CHECK_SECONDS = 3.0
"""A store that has not answered after that time is taken for one that does not."""
GRACE_SECONDS = 5.0
"""A restart of the database is waited for that long; after that, requests are refused at once."""
_PAUSE = 1.0


class StoreWatch:
    """Knows since when the store has not answered; `tell` hears when that begins or ends."""

    def __init__(self, engine: Engine, tell: Callable[[bool], None]) -> None:
        self._engine = engine
        self._tell = tell
        self._checking: asyncio.Task[None] | None = None
        self._since: float | None = None
        self._told = False

    @property
    def is_lost(self) -> bool:
        """Whether it has not answered for so long that nobody should wait for it."""
        return self._since is not None and monotonic() - self._since >= GRACE_SECONDS

    async def check(self) -> str:
        """Why the store cannot be used, or nothing if it can; known within seconds."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._engine.check())
        try:
            # One that hangs goes on by itself: another would hang as well, with one more thread.
            async with asyncio.timeout(CHECK_SECONDS):
                await asyncio.shield(self._checking)
        except TimeoutError:
            return self._fail(f"The store did not answer within {CHECK_SECONDS:g} seconds")
        except StoreError as error:
            return self._fail(str(error))
        if self._since is not None:
            logger.warning("the store answers again, after %.1f s", monotonic() - self._since)
            self._since = None
        self._report(lost=False)
        return ""

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(_PAUSE)

    def _fail(self, reason: str) -> str:
        if self._since is None:
            self._since = monotonic()
            logger.error("the store does not answer: %s", reason)
        if self.is_lost:
            self._report(lost=True)
        return reason

    def _report(self, *, lost: bool) -> None:
        if lost == self._told:
            return
        self._told = lost
        if lost:
            logger.error("requests are refused until the store answers again")
        self._tell(not lost)
