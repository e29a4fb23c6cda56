"""Marks by which one learns whether a COMMIT that got no answer was carried out.

The number of a transaction does not tell: a server that has crashed gives those that it had not
yet written to its log to others. So every thread that writes has a row of its own, in which each
transaction leaves its number.
"""

from __future__ import annotations

from secrets import token_hex

from psycopg.sql import SQL, Composed, Literal

from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.postgres.connection import Connection

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
