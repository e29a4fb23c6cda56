"""Connections to the file of a store: private, durable, and patient with other processes."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.stores.engine import Change, Row
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.sqlite.clock import Clock

PATIENCE = 10.0
"""Seconds to wait for another process that is writing."""

_OLDEST = (3, 35, 0)  # the first with RETURNING
_RETRY_SECONDS = 0.005
_creating = threading.Lock()


def prepare_file(path: Path) -> None:
    """Make the file and its folder, readable by their owner only."""
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreUnavailable(
            f"The store needs SQLite 3.35 or newer; this Python has {sqlite3.sqlite_version}"
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create_file(path)
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise StoreUnavailable(f"The store {path} cannot be opened: {error}") from error
    if not stat.S_ISREG(mode):
        raise StoreUnavailable(f"The store {path} is not an ordinary file")


def _create_file(path: Path) -> None:
    """Make the file if it is not there, without opening it otherwise.

    Closing a file drops every lock that this process holds on it, those of other connections too.
    So nothing may connect to a new file before it is closed here.
    """
    with _creating, suppress(FileExistsError):
        real = path.resolve()
        os.close(os.open(real, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


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
    mode = _switch_to_log(connection)
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


def _switch_to_log(connection: sqlite3.Connection) -> str:
    """Ask for a write-ahead log, and return the mode of the file.

    SQLite's own time-out does not hold here: of several connections that change the mode of a new
    file, all but one fail at once.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            row = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return str(row["journal_mode"])


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
