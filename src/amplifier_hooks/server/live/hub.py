"""From a change in the store to every socket: read once, encoded once, told to all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from amplifier_hooks.approvals.errors import NotFound, StoreError, TooMany
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, SessionEntry
from amplifier_hooks.approvals.stores.checks import Position
from amplifier_hooks.approvals.stores.engine import ANY, Change
from amplifier_hooks.approvals.stores.store import list_recent
from amplifier_hooks.server.encoding import describe_approval, encode
from amplifier_hooks.server.live.feed import RETRY_SECONDS, ChangeFeed

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store


Changed = Approval | SessionEntry

# A transaction that began earlier may become visible later than one that began after it.
_OVERLAP = 1.0
_START = -1.0


class RecentChanges:
    """Remembers until when changes were read, and which of the last ones were told already."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read_until = _START
        self._told: dict[str, float] = {}

    async def read_one(self, change: Change) -> list[Changed]:
        """What changed, unless it is gone."""
        value = await self._get(change.topic, change.subject)
        if value is None:
            return []
        self._told[value.id] = value.updated
        return [value]

    async def read(self) -> list[Changed]:
        """What changed since the last time; the first time, nothing."""
        if self._read_until == _START:
            self._read_until = (await list_recent(self._store.engine, float("1e300"))).now
            return []
        since = self._read_until - _OVERLAP
        recent = await list_recent(self._store.engine, since)
        self._told = {id: at for id, at in self._told.items() if at >= since}
        found: list[Changed] = []
        for topic, changed in (("approval", recent.approvals), ("session", recent.sessions)):
            for id, updated in changed:
                if self._told.get(id) != updated:
                    found += await self.read_one(Change(topic, id))
        self._read_until = recent.now
        return found

    async def _get(self, topic: str, id: str) -> Changed | None:
        try:
            if topic == "approval":
                return await self._store.approvals.get(id)
            return await self._store.sessions.get(id)
        except NotFound:
            return None


@dataclass(frozen=True)
class Update:
    """What a socket or a stream is sent."""

    type: str
    payload: str
    """JSON of the value itself."""

    @cached_property
    def message(self) -> str:
        """As a message of a WebSocket."""
        return f'{{"type":"{self.type}","{self.type}":{self.payload}}}'

    @cached_property
    def event(self) -> str:
        """As an event of a stream."""
        return f"event: {self.type}\ndata: {self.payload}\n\n"


def make_update(value: Changed) -> Update:
    """News of a value."""
    kind = "approval" if isinstance(value, Approval) else "session"
    return Update(kind, encode(value))


@dataclass(frozen=True)
class Said(Update):
    """A message that is only for WebSockets, already complete."""

    @cached_property
    def message(self) -> str:
        return self.payload


def say(**fields: Any) -> Said:
    """A message with these fields."""
    return Said(fields["type"], encode(fields))


PING = say(type="ping")


_FRESH_SECONDS = 60.0
_PAGE = 50
_AT_ONCE = 10


class PendingList:
    """Every pending approval, encoded once: read when somebody comes, then kept by what is noted.

    Of an encoded approval only `seconds_left` goes on changing, so that stands at its end.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._encoded: dict[str, _Encoded] = {}
        self._noted: list[Approval] = []
        """While all are read: what was read of them may be older."""
        self._read = float("-inf")

    def forget(self) -> None:
        """Read again next time: what changes is not noted from here on."""
        self._read = float("-inf")

    def note(self, approval: Approval) -> Update:
        """Take in how an approval stands now; the news of it, which are encoded with that."""
        if self._lock.locked():
            self._noted.append(approval)
        if approval.status != "pending":
            self._encoded.pop(approval.id, None)
            return make_update(approval)
        encoded = self._encoded[approval.id] = _encode_pending(approval)
        return encoded.tell(monotonic())

    async def read(self) -> list[Update]:
        """Every pending approval."""
        async with self._lock:
            await self._refresh()
            now = monotonic()
            return [one.tell(now) for one in self._encoded.values()]

    async def read_window(self, most: int) -> Update:
        """As many as somebody sees at first, the oldest, and how many wait in all."""
        async with self._lock:
            await self._refresh()
            now = monotonic()
            first = list(islice(self._encoded.values(), most))
            shown = ",".join(one.tell(now).payload for one in first)
            more = first[-1].position if first and len(first) < len(self._encoded) else ""
            return Said(
                "pending",
                f'{{"type":"pending","approvals":[{shown}],"waiting":{len(self._encoded)},'
                f'"next":{encode(more)}}}',
            )

    def count(self) -> int:
        """How many wait, as far as is known here."""
        return len(self._encoded)

    async def _refresh(self) -> None:
        if monotonic() - self._read > _FRESH_SECONDS:
            await self._read_all()

    async def _read_all(self) -> None:
        self._read = monotonic()
        self._noted = []
        try:
            self._encoded = await self._list()
        except BaseException:  # the list of before is not what waits now
            self.forget()
            raise
        for approval in self._noted:
            if approval.status == "pending":
                self._encoded[approval.id] = _encode_pending(approval)
            else:
                self._encoded.pop(approval.id, None)

    async def _list(self) -> dict[str, _Encoded]:
        found: dict[str, _Encoded] = {}
        after = ""
        while True:
            wanted = ApprovalFilter(status=("pending",), limit=_PAGE, after=after)
            page, after = await self._store.approvals.list(wanted)
            for number, one in enumerate(page):
                found[one.id] = _encode_pending(one)
                if number % _AT_ONCE == 0:  # decisions go on while a long list is read
                    await asyncio.sleep(0)
            if not after:
                return found


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A pending approval up to its `seconds_left`, and when they are over by our clock."""

    begin: str
    ends: float
    position: str
    """Its place in a list, from which the next page goes on."""

    def tell(self, now: float) -> Update:
        left = max(0.0, self.ends - now)
        return Update("approval", f'{self.begin},"seconds_left":{left}}}')


def _encode_pending(approval: Approval) -> _Encoded:
    described = describe_approval(approval)
    left = described.pop("seconds_left")
    place = str(Position(approval.created, approval.id))
    return _Encoded(encode(described)[:-1], monotonic() + left, place)


QUEUE = 256


class Subscriber:
    """The queue of one socket or stream; whoever reads too slowly is cut off."""

    __slots__ = ("_queue", "after", "counts", "ended", "is_known", "on_end", "session")

    def __init__(self, is_known: Callable[[], Awaitable[bool]]) -> None:
        self.is_known = is_known
        """Whether the credential still holds."""
        self.session = ""
        self.counts = False
        """Whether it is told how many wait, because it knows only some of them."""
        self.after = 0
        """The number of the last record of that session that was put into the queue."""
        self.ended = 0
        """The code to close with, as soon as there is one."""
        self.on_end: Callable[[], object] = lambda: None
        """Called when it ends: whoever sends may be stuck, because nobody reads."""
        self._queue: asyncio.Queue[Update | None] = asyncio.Queue()

    def offer(self, update: Update) -> None:
        """Put something into the queue; if it is full, empty it and end."""
        if self.ended:
            return
        if self._queue.qsize() >= QUEUE:
            self.end(1013)
        else:
            self._queue.put_nowait(update)

    def end(self, code: int) -> None:
        """Send nothing more."""
        if self.ended:
            return
        self.ended = code
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)
        self.on_end()

    async def take(self) -> Update | None:
        """The next thing to send; None once it has ended."""
        if self.ended:
            return None
        return await self._queue.get()


logger = logging.getLogger(__name__)

_RECORDS_PAGE = 500
_PING_SECONDS = 20.0
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
        subscriber.session = session
        subscriber.after = after
        if session:
            self.receive(Change("records", session))

    def receive(self, change: Change) -> None:
        """Note a change; many of the same are one."""
        if change.topic in ("records", ANY):
            wanted = [change.subject] if change.topic == "records" else self._list_watched()
            self._records.update(dict.fromkeys(wanted))
            self._records_came.set()
        if change.topic in ("approval", "session", ANY):
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
                await asyncio.sleep(RETRY_SECONDS)
                self.receive(Change(ANY, ANY))

    async def _tell_news(self) -> None:
        while self._news:
            change = next(iter(self._news))
            del self._news[change]
            if not self._subscribers and change.topic != ANY:
                self.pending.forget()
                continue
            for update in await self._read_news(change):
                self.tell(update)
        self._tell_count()
        if self._store_is_back:  # and what was missed has been told
            self._store_is_back = False
            self.tell(say(type="store", available=True))

    async def _read_news(self, change: Change) -> list[Update]:
        if change.topic == ANY:
            changed = await self._recent.read()
        else:
            changed = await self._recent.read_one(change)
        return [
            self.pending.note(value) if isinstance(value, Approval) else make_update(value)
            for value in changed
        ]

    def _tell_count(self) -> None:
        """Say how many wait to those who know only some of them."""
        update = say(type="waiting", count=self.pending.count())
        for subscriber in self._subscribers:
            if subscriber.counts:
                subscriber.offer(update)

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
