"""A transaction in PostgreSQL, and how one learns whether it was committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Literal

from amplifier_hooks.approvals.stores.engine import ANY, Change, Row
from amplifier_hooks.approvals.stores.postgres.connection import Connection
from amplifier_hooks.approvals.stores.postgres.statement import NOW, convert_statement

CHANNEL = "amplifier_changes"
LONGEST_NOTICE = 7000
"""In bytes; PostgreSQL takes less than 8,000."""
MOST_NOTICES = 100
"""Beyond that many, one that tells of everything costs everybody less."""

Clock = Callable[[], float]


class PostgresTransaction:
    """Statements between BEGIN and COMMIT; what is announced is told with the COMMIT."""

    def __init__(self, connection: Connection, clock: Clock | None = None) -> None:
        self._cursor = connection.statements
        self._clock = clock
        self.changes: dict[Change, None] = {}

    def run(self, statement: str, **values: Any) -> list[Row]:
        if self._clock is not None:
            values[NOW] = self._clock()
        text = convert_statement(statement, own_clock=self._clock is not None)
        cursor = self._cursor.execute(text.encode(), values)
        # `description` would tell as well, and describe every column anew.
        has_rows = cursor.pgresult is not None and cursor.pgresult.nfields > 0
        return list(cursor.fetchall()) if has_rows else []

    def announce(self, topic: str, subject: str) -> None:
        self.changes[Change(topic, subject)] = None


def begin_writing(connection: Connection, mark: Composed | None = None) -> None:
    """Begin a transaction, with its mark as the first thing that it leaves."""
    connection.statements.execute(SQL("BEGIN") if mark is None else SQL("BEGIN; {}").format(mark))


def begin_reading(connection: Connection) -> None:
    """Begin a transaction that sees one state of everything, and cannot change it."""
    connection.statements.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def commit(connection: Connection, changes: Sequence[Change]) -> None:
    """Commit, and tell those who listen.

    NOTIFY within the transaction would let PostgreSQL commit only one of them at a time, each
    with its own wait for the disk. So the notice has a transaction of its own, which does not
    wait for the disk; it is sent together with the COMMIT, so that nothing can come between.
    """
    connection.statements.execute(
        SQL("COMMIT; {}").format(_notify(changes)) if changes else SQL("COMMIT")
    )


def announce(connection: Connection, changes: Sequence[Change]) -> None:
    """Tell those who listen of what was committed some other way."""
    if changes:
        connection.statements.execute(_notify(changes))


def write_notice(change: Change) -> str:
    """A change as the payload of a notification."""
    return f"{change.topic} {change.subject}"


def read_notice(payload: str) -> Change:
    """The change that a notification tells of."""
    topic, _, subject = payload.partition(" ")
    return Change(topic, subject)


def _notify(changes: Sequence[Change]) -> Composed:
    notices = [write_notice(change) for change in changes]
    if len(notices) > MOST_NOTICES or any(len(one.encode()) > LONGEST_NOTICE for one in notices):
        notices = [write_notice(Change(ANY, ANY))]
    calls = (
        SQL("pg_notify({}, {})").format(Literal(CHANNEL), Literal(notice)) for notice in notices
    )
    return SQL("BEGIN; SET LOCAL synchronous_commit = off; SELECT {}; COMMIT").format(
        SQL(", ").join(calls)
    )


def roll_back(connection: Connection) -> None:
    """Give up a transaction; if the connection is lost, it is given up already."""
    with suppress(psycopg.Error):
        connection.statements.execute("ROLLBACK")
