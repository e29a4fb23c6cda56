"""A store in PostgreSQL, for many machines: transactions that are committed once, and news."""

from __future__ import annotations

import asyncio
import os
import selectors
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from threading import Event, Thread, local
from time import monotonic
from typing import TypeVar

import psycopg
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composed, Literal

from amplifier_hooks.approvals.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.retry import generate_pauses
from amplifier_hooks.approvals.stores.engine import SOMETHING, Change, Listeners, Transaction
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

    def write(self, work: Work[T], deadline: float) -> T:
        """Run work in a transaction; it is committed, once, when this returns."""
        return self._persist(lambda: self._write_once(work, deadline), deadline)

    def prepare(self, work: Work[T], deadline: float) -> T:
        """Run work that may be run twice, without a mark: there may be no room for one yet."""
        return self._persist(lambda: self._prepare_once(work), deadline)

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
                return work(PostgresTransaction(connection, self._clock))
            except ReadOnlySqlTransaction as error:
                raise StoreError(f"Work that only reads cannot do this: {error}") from error
            finally:
                roll_back(connection)

    def _write_once(self, work: Work[T], deadline: float) -> T:
        mark = self._find_mark()
        with self._connections.lend() as connection:
            begin_writing(connection, mark.leave_next())
            transaction = PostgresTransaction(connection, self._clock)
            try:
                result = work(transaction)
                check_unbroken(connection)
            except BaseException:
                roll_back(connection)
                raise
            changes = list(transaction.changes)
            try:
                commit(connection, changes)
            except psycopg.Error as error:
                lost = error
            else:
                return result
        if not self._was_committed(mark, lost, deadline):
            raise lost
        self._persist(lambda: self._announce(changes), deadline)
        return result

    def _prepare_once(self, work: Work[T]) -> T:
        with self._connections.lend() as connection:
            begin_writing(connection)
            try:
                result = work(PostgresTransaction(connection, self._clock))
            except BaseException:
                roll_back(connection)
                raise
            commit(connection, [])
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
            raise StoreUnavailable(
                f"The store at {self._address} was lost in the middle of a COMMIT; whether that"
                " was carried out is not known"
            ) from lost

    def _look_for(self, mark: Mark) -> bool:
        with self._connections.lend() as connection:
            return mark.was_left(connection)

    def _announce(self, changes: list[Change]) -> None:
        with self._connections.lend() as connection:
            announce(connection, changes)


def check_unbroken(connection: Connection) -> None:
    """PostgreSQL answers COMMIT after a failed statement with a rollback, and calls it success."""
    if connection.info.transaction_status is TransactionStatus.INERROR:
        raise StoreError("A statement of this transaction failed; nothing of it was recorded")


THREADS = 8
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
        self._connections = Connections(url)
        self._worker = Worker(self._connections, self.address, clock, self._closing)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self._listeners = Listeners()
        self._notices = Notices(url, self._listeners)

    @classmethod
    async def open(
        cls, url: str, clock: Clock | None = None, *, patience: float = PATIENCE
    ) -> PostgresEngine:
        """Open a database, which must be there; one that does not answer is not waited for."""
        engine = cls(url, clock=clock, patience=patience)
        try:
            await engine._do(engine._worker.read, check_server, patience=0.0)
            await engine._do(engine._worker.prepare, make_room_for_marks)
        except BaseException:
            await engine.close()
            raise
        return engine

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction; durable when this returns."""
        return await self._do(self._worker.write, work)

    async def read(self, work: Work[T]) -> T:
        """Run `work`, which changes nothing, on what is durable."""
        return await self._do(self._worker.read, work)

    async def check(self) -> None:
        """Raise StoreUnavailable unless the database answers now, and can be written to.

        In a thread of its own: that all others are at work is no failure.
        """
        self._check_open()
        # Long enough for a second try, after one on a connection of before a restart.
        deadline = monotonic() + 0.1
        await asyncio.to_thread(self._worker.read, self._check_primary, deadline)

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
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._connections.close()

    async def _do(
        self, run: Callable[[Work[T], float], T], work: Work[T], patience: float | None = None
    ) -> T:
        self._check_open()
        deadline = monotonic() + (self._patience if patience is None else patience)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, run, work, deadline)

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
