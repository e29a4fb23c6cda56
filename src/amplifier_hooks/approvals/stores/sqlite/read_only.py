"""A store on SQLite for those who only look: nothing about its file is changed, or made."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.migrations.version import check_version
from amplifier_hooks.approvals.stores.sqlite.clock import BootClock, Clock
from amplifier_hooks.approvals.stores.sqlite.connection import (
    PATIENCE,
    SqliteTransaction,
    make_row,
    name_failure,
)

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
