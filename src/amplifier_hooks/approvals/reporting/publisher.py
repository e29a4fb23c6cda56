"""Publishing records beside the agent: in batches, through a queue that cannot grow."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from amplifier_core.utils import describe_error
from amplifier_hooks.approvals.reporting.record import write_record
from amplifier_hooks.approvals.stores.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.link import AgentLink
from amplifier_hooks.approvals.stores.values.session import SessionRecord

logger = logging.getLogger(__name__)

LIMIT = 5_000
BATCH = 200
DROPPED = "records_dropped"
# Seconds: records gather for a moment; a store that does not answer is left alone for a while.
GATHERING = 0.1
PAUSE = 1.0
GRACE = 3.0

Waiting = tuple[str, SessionRecord]


class Publisher:
    """Sends what it is given to one link. When that is slow, the oldest records are dropped."""

    def __init__(self, link: AgentLink, *, limit: int = LIMIT, pause: float = PAUSE) -> None:
        self._link = link
        self._limit = limit
        self._pause = pause
        self._waiting: deque[Waiting] = deque()
        self._dropped = 0
        self._last: Waiting | None = None
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def add(self, session_id: str, record: SessionRecord) -> None:
        """Take a record; this never waits."""
        if len(self._waiting) >= self._limit:
            self._last = self._waiting.popleft()
            self._dropped += 1
        self._waiting.append((session_id, record))
        self._news.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self, grace: float = GRACE) -> None:
        """Send what is left, for no longer than `grace` seconds."""
        self._closing = True
        self._news.set()
        if self._task is None:
            return
        await asyncio.wait([self._task], timeout=grace)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            await self._news.wait()
            self._news.clear()
            if not self._closing:
                await asyncio.sleep(GATHERING)
            while self._waiting:
                await self._send(self._take())
                if 0 < len(self._waiting) < BATCH and not self._closing:
                    await asyncio.sleep(GATHERING)

    def _take(self) -> list[Waiting]:
        count = min(BATCH, len(self._waiting))
        taken = [self._waiting.popleft() for _ in range(count)]
        if self._dropped and self._last is not None:
            # In the place of the last one that was dropped, whose number is free.
            session_id, lost = self._last
            body: Mapping[str, Any] = {"count": self._dropped}
            taken.insert(0, (session_id, write_record(lost.number, DROPPED, body, turn=lost.turn)))
            self._dropped, self._last = 0, None
        return taken

    async def _send(self, batch: Sequence[Waiting]) -> None:
        for session_id, group in groupby(batch, key=lambda one: one[0]):
            records = [record for _, record in group]
            await self._publish(session_id, records)

    async def _publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Send them, again and again while nobody answers, until they arrive or are refused."""
        while True:
            try:
                await self._link.publish(session_id, records)
            except StoreUnavailable as error:
                logger.debug("Records are not published yet: %s", error)
                await asyncio.sleep(self._pause)
            except StoreError as error:
                logger.warning("%d records were refused: %s", len(records), describe_error(error))
                return
            else:
                return
