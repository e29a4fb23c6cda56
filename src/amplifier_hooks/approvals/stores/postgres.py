"""A store in PostgreSQL, for many machines: transactions that are committed once, and news."""

from __future__ import annotations

import asyncio
import os
import selectors
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from secrets import token_hex
from threading import Event, Thread, local
from time import monotonic
from typing import Any, TypeVar, cast

import psycopg
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composable, Composed, Literal

from amplifier_hooks.approvals.errors import StoreError, StoreOutage, StoreUnavailable
from amplifier_hooks.approvals.retry import generate_pauses
from amplifier_hooks.approvals.stores.engine import SOMETHING, Change, Listeners, Transaction
from amplifier_hooks.approvals.stores.jobs import Job, Workers, report
from amplifier_hooks.approvals.stores.postgres_connection import (
    CHANNEL,
    Clock,
    Connection,
    Connections,
    PostgresTransaction,
    announce,
    begin_reading,
    begin_writing,
    check_address,
    commit,
    describe_address,
    is_collision,
    is_outage,
    open_connection,
    read_notice,
    roll_back,
    translate,
)

KEPT_SECONDS = 7 * 24 * 3600
"""How long the row of a thread that writes no more is kept: longer than anybody is in doubt."""

_LOCK = "SELECT pg_advisory_xact_lock(7158232185)"
_TABLE = """
CREATE TABLE IF NOT EXISTS store_writers (
    id TEXT PRIMARY KEY,
    last BIGINT NOT NULL,
    seen TIMESTAMPTZ NOT NULL
)
"""
_CLEAN = "DELETE FROM store_writers WHERE seen < now() - make_interval(secs => :seconds)"
_MARK = SQL(
    "INSERT INTO store_writers (id, last, seen) VALUES ({id}, {number}, now())"
    " ON CONFLICT (id) DO UPDATE SET last = excluded.last, seen = excluded.seen"
)
# As a write, so that it waits for a transaction of that thread that is still under way.
_READ = (
    "INSERT INTO store_writers (id, last, seen) VALUES (%(id)s, 0, now())"
    " ON CONFLICT (id) DO UPDATE SET seen = excluded.seen RETURNING last"
)


class Mark:
    """The row of one thread, and the number of its last transaction."""

    def __init__(self) -> None:
        self.id = token_hex(8)
        self.number = 0

    def leave_next(self) -> Composed:
        """The statement that leaves the next number, within its transaction."""
        self.number += 1
        return _MARK.format(id=Literal(self.id), number=Literal(self.number))

    def was_left(self, connection: Connection) -> bool:
        """Whether the transaction with the last number was committed; it is over in any case."""
        found = connection.execute(_READ, {"id": self.id}).fetchall()
        return bool(found[0]["last"] == self.number)


def make_room_for_marks(transaction: Transaction) -> None:
    """Make the table, unless it is there, and drop rows that nobody needs any more."""
    if not transaction.run("SELECT to_regclass('store_writers') AS found")[0]["found"]:
        transaction.run(_LOCK)
        transaction.run(_TABLE)
    transaction.run(_CLEAN, seconds=KEPT_SECONDS)


SILENT_SECONDS = 10.0
"""After that time without a notice it asks whether the server is still there."""
CONNECTED_LOOK_SECONDS = 0.005
SHORTEST_RECONNECT = 0.05
LONGEST_RECONNECT = 1.0


class Notices:
    """Tells listeners of changes; after the connection was lost, that any may have been made."""

    def __init__(self, url: str, listeners: Listeners) -> None:
        self._url = url
        self._listeners = listeners
        self._thread: Thread | None = None
        self._ended = Event()
        self._wake_reader, self._wake_writer = os.pipe()
        self.connected = Event()

    def start(self) -> None:
        """Begin to listen, if it does not yet."""
        if self._thread is None:
            self._thread = Thread(target=self._listen_always, name="store-notices", daemon=True)
            self._thread.start()

    async def wait_until_connected(self) -> None:
        """Without a thread that waits: the event loop's own may all be in use."""
        while not self.connected.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(CONNECTED_LOOK_SECONDS)

    def end(self) -> None:
        """Listen no more; returns when the thread is gone."""
        if self._ended.is_set():
            return
        self._ended.set()
        os.write(self._wake_writer, b"\0")
        if self._thread is not None:
            self._thread.join()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _listen_always(self) -> None:
        pause = SHORTEST_RECONNECT
        while not self._ended.is_set():
            try:
                with open_connection(self._url) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    pause = SHORTEST_RECONNECT
                    self._listeners.publish([SOMETHING])
                    self.connected.set()
                    self._listen(connection)
            except psycopg.Error:
                self.connected.clear()
                self._ended.wait(pause)
                pause = min(pause * 2, LONGEST_RECONNECT)

    def _listen(self, connection: Connection) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while not self._ended.is_set():
                notices = connection.notifies(timeout=0)
                self._listeners.publish([read_notice(notice.payload) for notice in notices])
                if not selector.select(SILENT_SECONDS):
                    connection.execute("SELECT 1")


T = TypeVar("T")
Work = Callable[[Transaction], T]

SHORTEST_PAUSE = 0.01
LONGEST_PAUSE = 0.5
DOUBT_SECONDS = 10.0
"""How long it asks at least whether a COMMIT was carried out."""


_IN_HASTE = SQL("SET LOCAL lock_timeout = '100ms'")


class Doubt(Exception):
    """Nobody has said whether a COMMIT was carried out."""

    def __init__(self, lost: psycopg.Error, changes: Sequence[Change], result: Any) -> None:
        super().__init__(str(lost))
        self.lost = lost
        self.changes = changes
        self.result = result


class Worker:
    """Runs work in the calling thread: again if it collided, and when a lost server is back."""

    def __init__(
        self, connections: Connections, address: str, clock: Clock | None, closing: Event
    ) -> None:
        self._connections = connections
        self._address = address
        self._clock = clock
        self._closing = closing
        self._of_thread = local()

    def read(self, work: Work[T], deadline: float) -> T:
        """Run work that changes nothing, on one state of everything."""
        return self._persist(lambda: self._read_once(work), deadline)

    def look(self, work: Work[T], deadline: float) -> T:
        """Run work that changes nothing, each statement for itself: one of them needs no more."""
        return self._persist(lambda: self._look_once(work), deadline)

    def write(self, work: Work[T], deadline: float) -> T:
        """Run work in a transaction; it is committed, once, when this returns."""
        return self._persist(lambda: self._write_once(work, deadline), deadline)

    def repeat(self, work: Work[T], deadline: float, doubt: Doubt | None = None) -> T:
        """The same without a mark, for work that finds when it is run again that it was done.

        `doubt` is about a COMMIT with which it was sent before.
        """
        doubts = [] if doubt is None else [doubt]

        def once() -> T:
            told = [change for one in doubts for change in one.changes]
            try:
                return self._commit(work, told)
            except Doubt as error:
                doubts.append(error)
                raise error.lost from None

        try:
            return self._persist(once, deadline)
        except StoreOutage:
            if not doubts:
                raise
        try:
            return self._persist(once, monotonic() + DOUBT_SECONDS)
        except StoreOutage:
            raise self._name_doubt() from doubts[0].lost

    def share(self, works: Sequence[Work[Any]]) -> list[Any]:
        """Run repeatable works in one transaction, once: if one of them fails, none was done.

        Nobody is waited for: whoever holds a row that one of them needs would hold up all.
        """
        return self._commit(
            lambda transaction: [work(transaction) for work in works], first=_IN_HASTE
        )

    def _persist(self, once: Callable[[], T], deadline: float) -> T:
        pauses = generate_pauses(SHORTEST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                return once()
            except (psycopg.Error, UnicodeError) as error:
                if not self._may_retry(error, deadline):
                    raise translate(error, self._address) from error
            self._closing.wait(next(pauses))

    def _may_retry(self, error: Exception, deadline: float) -> bool:
        if not isinstance(error, psycopg.Error):
            return False
        if is_outage(error):
            self._connections.drop_idle()
        elif not is_collision(error):
            return False
        return monotonic() < deadline and not self._closing.is_set()

    def _read_once(self, work: Work[T]) -> T:
        with self._connections.lend() as connection:
            begin_reading(connection)
            try:
                return self._look_with(connection, work)
            finally:
                roll_back(connection)

    def _look_once(self, work: Work[T]) -> T:
        with self._connections.lend() as connection:
            return self._look_with(connection, work)

    def _look_with(self, connection: Connection, work: Work[T]) -> T:
        try:
            return work(PostgresTransaction(connection, self._clock))
        except ReadOnlySqlTransaction as error:
            raise StoreError(f"Work that only reads cannot do this: {error}") from error

    def _write_once(self, work: Work[T], deadline: float) -> T:
        mark = self._find_mark()
        try:
            return self._commit(work, first=mark.leave_next())
        except Doubt as error:
            doubt = error
        if not self._was_committed(mark, doubt.lost, deadline):
            raise doubt.lost
        self._persist(lambda: self._announce(doubt.changes), deadline)
        return cast(T, doubt.result)

    def _commit(
        self, work: Work[T], told: Sequence[Change] = (), first: Composable | None = None
    ) -> T:
        """Run work in a transaction that begins with `first`; Doubt if COMMIT has no answer."""
        with self._connections.lend() as connection:
            begin_writing(connection, first)
            transaction = PostgresTransaction(connection, self._clock)
            try:
                result = work(transaction)
                check_unbroken(connection)
            except BaseException:
                roll_back(connection)
                raise
            changes = list(dict.fromkeys([*told, *transaction.changes]))
            try:
                commit(connection, changes)
            except psycopg.Error as error:
                raise Doubt(error, changes, result) from error
        return result

    def _find_mark(self) -> Mark:
        if not hasattr(self._of_thread, "mark"):
            self._of_thread.mark = Mark()
        found: Mark = self._of_thread.mark
        return found

    def _was_committed(self, mark: Mark, lost: psycopg.Error, deadline: float) -> bool:
        """Ask the server, as soon as it answers again."""
        deadline = max(deadline, monotonic() + DOUBT_SECONDS)
        try:
            return self._persist(lambda: self._look_for(mark), deadline)
        except StoreError:
            raise self._name_doubt() from lost

    def _name_doubt(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"The store at {self._address} was lost in the middle of a COMMIT; whether that was"
            " carried out is not known"
        )

    def _look_for(self, mark: Mark) -> bool:
        with self._connections.lend() as connection:
            return mark.was_left(connection)

    def _announce(self, changes: Sequence[Change]) -> None:
        with self._connections.lend() as connection:
            announce(connection, changes)


def check_unbroken(connection: Connection) -> None:
    """PostgreSQL answers COMMIT after a failed statement with a rollback, and calls it success."""
    if connection.info.transaction_status is TransactionStatus.INERROR:
        raise StoreError("A statement of this transaction failed; nothing of it was recorded")


READERS = 3
WRITERS = 4
SHARED = 64
"""How many works share one transaction at most."""
OLDEST_SERVER = 13
PATIENCE = 15.0
"""How long work waits for a server that does not answer, in seconds."""


class PostgresEngine:
    """One open database; a few threads do the work, each with a connection of its own."""

    def __init__(self, url: str, *, clock: Clock | None = None, patience: float = PATIENCE) -> None:
        check_address(url)
        self.address = describe_address(url)
        self._patience = patience
        self._process = os.getpid()
        self._closing = Event()
        self._connections = (Connections(url, reads_only=True), Connections(url))
        self._reader, self._writer = (
            Worker(one, self.address, clock, self._closing) for one in self._connections
        )
        self._readers = Workers("store-reader", READERS)
        self._writers = Workers("store-writer", WRITERS)
        # While one transaction waits for the disk, the next one gathers its works.
        self._sharing = Workers("store-sharing", 1, self._share, SHARED)
        self._listeners = Listeners()
        self._notices = Notices(url, self._listeners)

    @classmethod
    async def open(
        cls, url: str, clock: Clock | None = None, *, patience: float = PATIENCE
    ) -> PostgresEngine:
        """Open a database, which must be there; one that does not answer is not waited for."""
        engine = cls(url, clock=clock, patience=patience)
        try:
            # Tried once: who opens a store is told at once that nobody answers.
            look = partial(engine._reader.look, check_server, monotonic())
            await engine._put(engine._readers, look)
            await engine.write(make_room_for_marks, repeatable=True)
        except BaseException:
            await engine.close()
            raise
        return engine

    async def write(self, work: Work[T], *, repeatable: bool = False) -> T:
        """Run `work` in a transaction; durable when this returns."""
        if repeatable:
            return await self._put(self._sharing, work)
        return await self._put(self._writers, partial(self._writer.write, work, self._limit()))

    async def read(self, work: Work[T], *, one_state: bool = True) -> T:
        """Run `work`, which changes nothing, on what is durable."""
        run = self._reader.read if one_state else self._reader.look
        return await self._put(self._readers, partial(run, work, self._limit()))

    async def check(self) -> None:
        """Raise StoreUnavailable unless the database answers now, and can be written to.

        In a thread of its own: that all others are at work is no failure.
        """
        self._check_open()
        # Long enough for a second try, after one on a connection of before a restart.
        deadline = monotonic() + 0.1
        await asyncio.to_thread(self._reader.look, self._check_primary, deadline)

    def _check_primary(self, transaction: Transaction) -> None:
        if transaction.run("SELECT pg_is_in_recovery() AS standby")[0]["standby"]:
            raise StoreUnavailable(f"The store at {self.address} is a standby, which cannot write")

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[Change]]:
        """Hear of changes from here on, those of other processes too."""
        self._check_open()
        self._notices.start()
        # Without an answer one listens all the same: when it is back, `*` tells of everything.
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._notices.wait_until_connected()
        async with self._listeners.listen() as changes:
            yield changes

    async def close(self) -> None:
        """Finish what is under way, and close all connections."""
        if self._closing.is_set():
            return
        self._closing.set()
        if os.getpid() == self._process:
            self._listeners.close()
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._notices.end()
        for workers in (self._readers, self._sharing, self._writers):
            workers.close()
        for connections in self._connections:
            connections.close()

    def _limit(self) -> float:
        """Until when work that begins now may be tried again."""
        return monotonic() + self._patience

    async def _put(self, workers: Workers, work: Callable[..., T]) -> T:
        self._check_open()
        job = Job.make(work, self._limit())
        workers.put(job)
        return cast(T, await job.future)

    def _share(self, jobs: list[Job]) -> None:
        """Do repeatable works in one transaction; if that fails, others do each by itself."""
        doubt: Doubt | None = None
        try:
            results = self._writer.share([job.work for job in jobs])
        except Doubt as error:
            doubt = error
        except Exception as error:  # noqa: BLE001 - each work runs into it again, and reports it
            jobs = self._give_up_late(jobs, error)
        else:
            for job, result in zip(jobs, results, strict=True):
                job.result = result
            report(jobs)
            return
        for job in jobs:
            job.work = partial(self._writer.repeat, job.work, job.deadline, doubt)
            self._writers.put(job)

    def _give_up_late(self, jobs: list[Job], error: Exception) -> list[Job]:
        """Those that may still be tried; if the server did not answer, not those of long ago."""
        if not isinstance(error, psycopg.Error) or not is_outage(error):
            return jobs
        late = [job for job in jobs if job.deadline <= monotonic()]
        for job in late:
            job.error = translate(error, self.address)
        report(late)
        return [job for job in jobs if job.error is None]

    def _check_open(self) -> None:
        if os.getpid() != self._process:
            raise StoreUnavailable(
                f"The store at {self.address} was opened in process {self._process}; after a fork,"
                " open it again"
            )
        if self._closing.is_set():
            raise StoreUnavailable(f"The store at {self.address} is closed")


def check_server(transaction: Transaction) -> None:
    """Raises StoreError for a server that is too old, or a database that cannot keep all texts."""
    found = transaction.run(
        "SELECT current_setting('server_version_num')::int AS number,"
        " current_setting('server_version') AS version,"
        " current_setting('server_encoding') AS encoding"
    )[0]
    if found["number"] < OLDEST_SERVER * 10_000:
        raise StoreError(
            f"The store needs PostgreSQL {OLDEST_SERVER} or newer; this is {found['version']}"
        )
    if found["encoding"] != "UTF8":
        raise StoreError(
            f"The store's database has the encoding {found['encoding']}; make one with UTF8"
        )
