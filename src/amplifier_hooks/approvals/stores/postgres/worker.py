"""Work in a transaction, until it is done or will not be."""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Event, local
from time import monotonic
from typing import TypeVar

import psycopg
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus

from amplifier_hooks.approvals.stores.engine import Change, Transaction
from amplifier_hooks.approvals.stores.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.postgres.connection import Connection
from amplifier_hooks.approvals.stores.postgres.connections import Connections
from amplifier_hooks.approvals.stores.postgres.failure import is_collision, is_outage, translate
from amplifier_hooks.approvals.stores.postgres.mark import Mark
from amplifier_hooks.approvals.stores.postgres.transaction import (
    Clock,
    PostgresTransaction,
    announce,
    begin_reading,
    begin_writing,
    commit,
    roll_back,
)

T = TypeVar("T")
Work = Callable[[Transaction], T]

SHORTEST_PAUSE, LONGEST_PAUSE = 0.01, 0.5
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
        pause = SHORTEST_PAUSE
        while True:
            try:
                return once()
            except (psycopg.Error, UnicodeError) as error:
                if not self._may_retry(error, deadline):
                    raise translate(error, self._address) from error
            self._closing.wait(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, LONGEST_PAUSE)

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
