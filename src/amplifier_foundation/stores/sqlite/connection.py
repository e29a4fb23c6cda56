"""Connections to the file of a store: private, durable, and patient with other processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_foundation.stores.engine import Change, Row
from amplifier_foundation.stores.errors import StoreUnavailable
from amplifier_foundation.stores.sqlite.clock import Clock

PATIENCE = 10.0
"""Seconds to wait for another process that is writing."""

_OLDEST = (3, 35, 0)  # the first with RETURNING


def prepare_file(path: Path) -> None:
    """Make the file and its folder, readable by their owner only."""
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreUnavailable(
            f"The store needs SQLite 3.35 or newer; this Python has {sqlite3.sqlite_version}"
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreUnavailable(f"The store {path} cannot be opened: {error}") from error


def connect(path: Path, clock: Clock, *, reads_only: bool = False) -> sqlite3.Connection:
    """A connection that is set up for a store."""
    try:
        connection = sqlite3.connect(
            path,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
    except sqlite3.Error as error:
        raise name_failure(path, error) from error
    try:
        _set_up(connection, path, clock, reads_only)
    except sqlite3.Error as error:
        connection.close()
        raise name_failure(path, error) from error
    except StoreUnavailable:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, path: Path, clock: Clock, reads_only: bool) -> None:
    connection.row_factory = make_row
    connection.create_function("unix_now", 0, clock)
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()["journal_mode"]
    if mode != "wal":
        raise StoreUnavailable(
            f"The store {path} cannot keep a write-ahead log on its file system, which says "
            f"{mode!r}; put it on a local disk"
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    # What a savepoint needs to undo its work would otherwise go through temporary files.
    connection.execute("PRAGMA temp_store = MEMORY")
    if reads_only:
        connection.execute("PRAGMA query_only = ON")


def make_row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> dict[str, Any]:
    """A row by the names of its columns."""
    return {about[0]: value for about, value in zip(cursor.description, values, strict=True)}


def name_failure(path: Path, error: sqlite3.Error) -> StoreUnavailable:
    """What SQLite says, with the file that it says it of."""
    return StoreUnavailable(f"The store {path} does not work: {error}")


class SqliteTransaction:
    """Statements on one connection, and what is to be told once they are durable."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.changes: list[Change] = []

    def run(self, statement: str, **values: Any) -> list[Row]:
        """Run a statement, and return its rows."""
        given: Mapping[str, Any] = values
        return self._connection.execute(statement, given).fetchall()

    def announce(self, topic: str, subject: str) -> None:
        """Tell everybody who listens, once this is durable."""
        self.changes.append(Change(topic, subject))
