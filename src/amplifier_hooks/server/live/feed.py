"""The changes of the store, heard once a process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.stores.engine import ANY, Change, Engine

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


RETRY_SECONDS = 1.0
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
            await asyncio.sleep(RETRY_SECONDS)

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


T = TypeVar("T")

MAX_WAIT = 60.0
# The row is the truth, and news of it may get lost. It is rare: after an interruption of the
# listening everybody is woken, so thousands of waiters need not all look every second.
_POLL_SECONDS = 5.0


async def wait_while(
    feed: ChangeFeed,
    subject: tuple[str, str],
    read: Callable[[], Awaitable[T]],
    unchanged: Callable[[T], bool],
    seconds: float,
) -> T:
    """What `read` returns once it has changed, or when the time is over or the server closes."""
    end = monotonic() + min(seconds, MAX_WAIT)
    with feed.watch(*subject) as changed:
        while True:
            value = await read()
            left = end - monotonic()
            if left <= 0 or not unchanged(value) or feed.closing.is_set():
                return value
            try:
                async with asyncio.timeout(min(left, _POLL_SECONDS)):
                    await changed.wait()
            except TimeoutError:
                continue
            changed.clear()
