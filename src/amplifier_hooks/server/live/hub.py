"""From a change in the store to every socket: read once, encoded once, told to all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from amplifier_hooks.approvals.errors import NotFound, StoreError, TooMany
from amplifier_hooks.approvals.stores.engine import ANY, Change
from amplifier_hooks.server.live.feed import ChangeFeed
from amplifier_hooks.server.live.pending import PendingList
from amplifier_hooks.server.live.recent_changes import RecentChanges
from amplifier_hooks.server.live.subscriber import Subscriber
from amplifier_hooks.server.live.update import PING, Update, make_update, say

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store

logger = logging.getLogger(__name__)

_RECORDS_PAGE = 500
_PING_SECONDS = 20.0
_RETRY_SECONDS = 1.0
_CHECK_SECONDS = 30.0


class Hub:
    """Everybody who looks, and what they are told."""

    def __init__(self, store: Store, feed: ChangeFeed, most: int) -> None:
        self._store = store
        self._most = most
        self._subscribers: set[Subscriber] = set()
        self._news: dict[Change, None] = {}
        self._records: dict[str, None] = {}
        self._news_came = asyncio.Event()
        self._records_came = asyncio.Event()
        self._credential_ended = asyncio.Event()
        self.pending = PendingList(store)
        self._recent = RecentChanges(store)
        self._store_is_back = False
        feed.subscribe(self.receive)

    @property
    def has_room(self) -> bool:
        """Whether one more may come."""
        return len(self._subscribers) < self._most

    @contextmanager
    def subscribe(self, is_known: Callable[[], Awaitable[bool]]) -> Iterator[Subscriber]:
        """Be told from here on; TooMany if there is no room."""
        if not self.has_room:
            raise TooMany(f"{self._most} clients are connected already; try again later")
        subscriber = Subscriber(is_known)
        self._subscribers.add(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers.discard(subscriber)

    def watch(self, subscriber: Subscriber, session: str, after: int) -> None:
        """Send the records of a session from a number on; of none, if the session is empty."""
        subscriber.session, subscriber.after = session, after
        if session:
            self.receive(Change("records", session))

    def receive(self, change: Change) -> None:
        """Note a change; many of the same are one."""
        if change.topic in ("records", ANY):
            wanted = [change.subject] if change.topic == "records" else self._list_watched()
            self._records.update(dict.fromkeys(wanted))
            self._records_came.set()
        if change.topic in ("approval", "session", ANY):
            if change.topic != "session":
                self.pending.forget()
            self._news[change] = None
            self._news_came.set()

    async def run(self) -> None:
        """Tell everybody, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._work(self._news_came, self._tell_news))
            group.create_task(self._work(self._records_came, self._tell_records))
            group.create_task(self._ping())
            group.create_task(self._check_credentials())

    def close(self) -> None:
        """Send everybody away, because the server ends."""
        for subscriber in self._subscribers:
            subscriber.end(1001)

    def tell(self, update: Update) -> None:
        """Put news into every queue."""
        for subscriber in self._subscribers:
            subscriber.offer(update)

    def tell_store(self, available: bool) -> None:
        """Say whether what they see is up to date: without its store, nobody knows."""
        self._store_is_back = available
        if available:
            self.receive(Change(ANY, ANY))
        else:
            self.tell(say(type="store", available=False))

    async def _work(self, came: asyncio.Event, tell: Callable[[], Awaitable[None]]) -> None:
        while True:
            await came.wait()
            came.clear()
            try:
                await tell()
            except StoreError as error:
                logger.warning("changes could not be read: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
                self.receive(Change(ANY, ANY))

    async def _tell_news(self) -> None:
        while self._news:
            change = next(iter(self._news))
            del self._news[change]
            if not self._subscribers and change.topic != ANY:
                continue
            for update in await self._read_news(change):
                self.tell(update)
        if self._store_is_back:  # and what was missed has been told
            self._store_is_back = False
            self.tell(say(type="store", available=True))

    async def _read_news(self, change: Change) -> list[Update]:
        if change.topic == ANY:
            return [make_update(kind, value) for kind, value in await self._recent.read()]
        try:
            if change.topic == "approval":
                approval = await self._store.approvals.get(change.subject)
                self._recent.note(approval)
                return [make_update("approval", approval)]
            session = await self._store.sessions.get(change.subject)
            self._recent.note(session)
            return [make_update("session", session)]
        except NotFound:
            return []

    async def _tell_records(self) -> None:
        while self._records:
            session = next(iter(self._records))
            del self._records[session]
            while await self._tell_page(session):
                pass

    async def _tell_page(self, session: str) -> bool:
        """Send the next records of a session to those who have not got them; whether any came."""
        watching = [one for one in self._subscribers if one.session == session and not one.ended]
        if not watching:
            return False
        after = min(one.after for one in watching)
        page = await self._store.records.read(session, after=after, limit=_RECORDS_PAGE)
        encoded: dict[int, Update] = {}
        for one in watching:
            # It may have turned to another session, or gone back, while the records were read.
            if one.session != session or one.after < after:
                continue
            seen = one.after
            if seen not in encoded:
                rest = [record for record in page if record.number > seen]
                encoded[seen] = say(type="records", session=session, records=rest)
            if page and page[-1].number > seen:
                one.after = page[-1].number
                one.offer(encoded[seen])
        return bool(page)

    def _list_watched(self) -> list[str]:
        return list({one.session for one in self._subscribers if one.session})

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(_PING_SECONDS)
            self.tell(PING)

    async def _check_credentials(self) -> None:
        """Send away whose credential was taken back or has expired."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await self._credential_ended.wait()
            self._credential_ended.clear()
            await self.check_credentials()

    def check_soon(self) -> None:
        """Look at the credentials now: one of them has ended."""
        self._credential_ended.set()

    async def check_credentials(self) -> None:
        """Look at every credential once, one after another: nothing is in a hurry."""
        for subscriber in list(self._subscribers):
            with suppress(StoreError):
                if not await subscriber.is_known():
                    subscriber.end(1008)
