"""The changes of the store, heard once a process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.stores.engine import ANY, Change, Engine

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0
EVERYTHING = Change(ANY, ANY)


class ChangeFeed:
    """Tells subscribers of every change, and wakes those who wait for one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._subscribers: list[Callable[[Change], None]] = []
        self._waiting: dict[tuple[str, str], set[asyncio.Event]] = {}
        self.listening = asyncio.Event()
        self.closing = asyncio.Event()

    def subscribe(self, receive: Callable[[Change], None]) -> None:
        """Call this with every change from here on."""
        self._subscribers.append(receive)

    async def run(self) -> None:
        """Listen until cancelled; what was missed while the store was away is anything."""
        while True:
            try:
                async with self._engine.listen() as changes:
                    self.listening.set()
                    self.deliver(EVERYTHING)
                    async for change in changes:
                        self.deliver(change)
            except (StoreError, OSError) as error:
                logger.warning("listening to the store failed: %s", error)
            await asyncio.sleep(_RETRY_SECONDS)

    def deliver(self, change: Change) -> None:
        """Tell everybody whom a change concerns."""
        for receive in self._subscribers:
            receive(change)
        if change.topic == ANY:
            self._wake_all()
        else:
            for event in self._waiting.get((change.topic, change.subject), ()):
                event.set()

    @contextmanager
    def watch(self, topic: str, subject: str) -> Iterator[asyncio.Event]:
        """An event that is set when the subject may have changed, and when the server closes."""
        event = asyncio.Event()
        place = self._waiting.setdefault((topic, subject), set())
        place.add(event)
        if self.closing.is_set():
            event.set()
        try:
            yield event
        finally:
            place.discard(event)
            if not place:
                self._waiting.pop((topic, subject), None)

    def close(self) -> None:
        """Let everybody who waits go on at once."""
        self.closing.set()
        self._wake_all()

    def _wake_all(self) -> None:
        for events in self._waiting.values():
            for event in events:
                event.set()
