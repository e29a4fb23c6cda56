"""Connections to the file of a store: private, durable, patient, and for those who only look."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import stat
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.engine import Change, Row, Transaction
from amplifier_hooks.approvals.stores.migrations import check_version

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

Clock = Callable[[], float]
"""Seconds since 1970."""


class BootClock:
    """Counts on from the anchor of this boot; remembers in the database how far it came."""

    def __init__(
        self,
        wall: Clock = time.time,
        since_boot: Clock | None = None,
        boot: str | None = None,
    ) -> None:
        self._wall = wall
        self._since_boot = since_boot or read_time_since_boot
        self._boot = boot or read_boot_id()
        self._anchor = 0.0
        self._latest = 0.0
        self._saved = 0.0

    def __call__(self) -> float:
        self._latest = max(self._latest, self._anchor + self._since_boot())
        return self._latest

    def attach(self, connection: sqlite3.Connection) -> None:
        """Take over this boot's anchor from the database, or be the one who sets it."""
        connection.execute(
            "CREATE TABLE IF NOT EXISTS boot_clock "
            "(boot TEXT PRIMARY KEY, anchor REAL NOT NULL, latest REAL NOT NULL)"
        )
        found = connection.execute(
            "SELECT anchor FROM boot_clock WHERE boot = ?", (self._boot,)
        ).fetchone()
        self._anchor = found["anchor"] if found else self._set_anchor(connection)
        self._saved = self()

    def follow(self, connection: sqlite3.Connection) -> None:
        """Take over this boot's anchor if there is one, and change nothing."""
        self._anchor = self._find_anchor(connection)

    def _find_anchor(self, connection: sqlite3.Connection) -> float:
        now = self._wall() - self._since_boot()
        try:
            found = connection.execute(
                "SELECT anchor FROM boot_clock WHERE boot = ?", (self._boot,)
            ).fetchone()
        except sqlite3.OperationalError:  # the store has another clock
            return now
        return found["anchor"] if found else now

    def _set_anchor(self, connection: sqlite3.Connection) -> float:
        before = connection.execute("SELECT max(latest) AS latest FROM boot_clock").fetchone()
        # `latest` is saved about once a second, so what was seen may be a second past it.
        begin = max(self._wall(), (before["latest"] or 0.0) + 1.0)
        anchor = begin - self._since_boot()
        connection.execute("DELETE FROM boot_clock WHERE latest < ?", (begin - 365 * 24 * 3600,))
        connection.execute(
            "INSERT INTO boot_clock (boot, anchor, latest) VALUES (?, ?, ?)",
            (self._boot, anchor, begin),
        )
        return anchor

    def save(self, connection: sqlite3.Connection) -> None:
        """Within a transaction: keep how far it is, about once a second."""
        now = self()
        if now - self._saved >= 1.0:
            connection.execute(
                "UPDATE boot_clock SET latest = max(latest, ?) WHERE boot = ?", (now, self._boot)
            )
            self._saved = now


def read_time_since_boot() -> float:
    """Seconds since boot, sleep included where the system counts it."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


def read_boot_id() -> str:
    """What tells this boot from others; where there is no such id, this opening from others."""
    with contextlib.suppress(OSError):
        return _BOOT_ID.read_text().strip()
    return f"opened-{uuid.uuid4()}"


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


T = TypeVar("T")

_Mark = tuple[int, int] | None


class ReadOnlySqlite:
    """Opens the file for each read; a file that is not there is an empty store."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self.path = path
        self._clock = clock

    async def read(self, work: Callable[[Transaction], T]) -> T | None:
        """Run `work` on what is durable; None if there is no store yet."""
        return await asyncio.to_thread(self._read, work)

    async def close(self) -> None:
        """Nothing stays open between two reads."""

    def _read(self, work: Callable[[Transaction], T]) -> T | None:
        before = self._mark_unused()
        if before is not None:
            try:
                found = self._read_with("mode=ro&immutable=1", work)
            except StoreUnavailable:
                if self._mark_unused() == before:
                    raise
            else:
                if self._mark_unused() == before:
                    return found
        elif not self.path.exists():
            return None
        return self._read_with("mode=ro", work)

    def _mark_unused(self) -> _Mark:
        """What tells whether the file was written to; None while it has a write-ahead log.

        To open a file without that log, SQLite makes one, also for those who only read. A file
        that nobody else has open can be read without.
        """
        if self.path.with_name(f"{self.path.name}-wal").exists():
            return None
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _read_with(self, how: str, work: Callable[[Transaction], T]) -> T:
        try:
            with self._connect(how) as connection:
                transaction = SqliteTransaction(connection)
                check_version(transaction, str(self.path))
                return work(transaction)
        except sqlite3.Error as error:
            raise name_failure(self.path, error) from error

    @contextmanager
    def _connect(self, how: str) -> Iterator[sqlite3.Connection]:
        address = f"file:{quote(str(self.path))}?{how}"
        opened = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
        with closing(opened) as connection:
            connection.row_factory = make_row
            connection.execute("PRAGMA query_only = ON")
            connection.create_function("unix_now", 0, self._clock or _follow_clock(connection))
            connection.execute("BEGIN")
            yield connection


def _follow_clock(connection: sqlite3.Connection) -> Clock:
    clock = BootClock()
    clock.follow(connection)
    return clock
