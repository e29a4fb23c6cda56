"""Work in a transaction, until it is done or will not be."""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import TypeVar

import psycopg
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus

from amplifier_foundation.stores.engine import Change, Transaction
from amplifier_foundation.stores.errors import StoreError, StoreUnavailable
from amplifier_foundation.stores.postgres.connection import Connection
from amplifier_foundation.stores.postgres.connections import Connections
from amplifier_foundation.stores.postgres.failure import is_collision, is_outage, translate
from amplifier_foundation.stores.postgres.transaction import (
    Clock,
    PostgresTransaction,
    announce,
    begin_reading,
    begin_writing,
    commit,
    find_fate,
    roll_back,
)

T = TypeVar("T")
Work = Callable[[Transaction], T]

SHORTEST_PAUSE, LONGEST_PAUSE = 0.01, 0.5


class Worker:
    """Runs work in the calling thread: again if it collided, and when a lost server is back."""

    def __init__(
        self, connections: Connections, address: str, clock: Clock | None, closing: Event
    ) -> None:
        self._connections = connections
        self._address = address
        self._clock = clock
        self._closing = closing

    def read(self, work: Work[T], deadline: float) -> T:
        """Run work that changes nothing, on one state of everything."""
        return self._persist(lambda: self._read_once(work), deadline)

    def write(self, work: Work[T], deadline: float) -> T:
        """Run work in a transaction; it is committed, once, when this returns."""
        return self._persist(lambda: self._write_once(work, deadline), deadline)

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
        with self._connections.lend() as connection:
            number = begin_writing(connection)
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
        self._settle(number, changes, lost, deadline)
        return result

    def _settle(
        self, number: str, changes: list[Change], lost: psycopg.Error, deadline: float
    ) -> None:
        """Return if a COMMIT that got no answer was carried out; raise `lost` if it was not."""
        fate = self._ask_fate(number, deadline)
        if fate == "aborted":
            raise lost
        if fate != "committed":
            raise StoreUnavailable(
                f"The store at {self._address} was lost in the middle of a COMMIT; whether that"
                " was carried out is not known"
            ) from lost
        self._persist(lambda: self._announce(changes), deadline)

    def _ask_fate(self, number: str, deadline: float) -> str:
        """A server that was restarted takes a moment to end what it was doing."""
        try:
            while True:
                fate = self._persist(lambda: self._find_fate(number), deadline)
                if fate != "in progress" or monotonic() >= deadline:
                    return fate
                self._closing.wait(SHORTEST_PAUSE)
        except StoreError:
            return ""

    def _find_fate(self, number: str) -> str:
        with self._connections.lend() as connection:
            return find_fate(connection, number)

    def _announce(self, changes: list[Change]) -> None:
        with self._connections.lend() as connection:
            announce(connection, changes)


def check_unbroken(connection: Connection) -> None:
    """PostgreSQL answers COMMIT after a failed statement with a rollback, and calls it success."""
    if connection.info.transaction_status is TransactionStatus.INERROR:
        raise StoreError("A statement of this transaction failed; nothing of it was recorded")
