"""The engine on SQLite: one thread that writes, a few that read, nothing that blocks the loop."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from amplifier_hooks.approvals.stores.engine import Change, Transaction
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.listeners import Listeners
from amplifier_hooks.approvals.stores.sqlite.clock import BootClock, Clock
from amplifier_hooks.approvals.stores.sqlite.connection import connect, name_failure, prepare_file
from amplifier_hooks.approvals.stores.sqlite.job import Job
from amplifier_hooks.approvals.stores.sqlite.readers import Readers
from amplifier_hooks.approvals.stores.sqlite.writer import Writer

T = TypeVar("T")

READERS = 3


class SqliteEngine:
    """One open file; other processes may have it open as well."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        """Blocks while it opens the file; `open` does not."""
        self.path = path
        self._process = os.getpid()
        self._closed = False
        self._listeners = Listeners()
        prepare_file(path)
        boot_clock = BootClock() if clock is None else None
        now = clock or cast(Clock, boot_clock)
        describe = partial(name_failure, path)
        writing = connect(path, now)
        try:
            if boot_clock is not None:
                _attach(boot_clock, writing)
            reading = [connect(path, now, reads_only=True) for _ in range(READERS)]
        except (sqlite3.Error, StoreUnavailable) as error:
            writing.close()
            raise describe(error) if isinstance(error, sqlite3.Error) else error from error
        save_clock = boot_clock.save if boot_clock is not None else _save_nothing
        self._writer = Writer(writing, self._listeners, describe, save_clock)
        self._readers = Readers(reading, describe)

    @classmethod
    async def open(cls, path: Path, clock: Clock | None = None) -> SqliteEngine:
        """Open the file, which is made if it is not there."""
        return await asyncio.to_thread(cls, path, clock)

    async def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction; durable when this returns."""
        self._refuse_misuse()
        job = Job.make(work)
        self._writer.put(job)
        return cast(T, await job.future)

    async def read(self, work: Callable[[Transaction], T]) -> T:
        """Run `work`, which changes nothing, on what is durable."""
        self._refuse_misuse()
        job = Job.make(work)
        self._readers.put(job)
        return cast(T, await job.future)

    async def check(self) -> None:
        """Raise StoreUnavailable unless the file can be read now."""
        await self.read(lambda transaction: transaction.run("SELECT 1"))

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[Change]]:
        """Hear of changes from here on, those of other processes too."""
        self._refuse_misuse()
        async with self._listeners.listen() as changes:
            self._writer.wake()
            yield changes

    async def close(self) -> None:
        """Finish what is under way, and close the file."""
        if self._closed:
            return
        self._closed = True
        if os.getpid() == self._process:
            self._listeners.close()
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._readers.close()

    def _refuse_misuse(self) -> None:
        if os.getpid() != self._process:
            raise StoreUnavailable(
                f"The store {self.path} was opened in process {self._process}; after a fork, open "
                "it again"
            )
        if self._closed:
            raise StoreUnavailable(f"The store {self.path} is closed")


def _attach(clock: BootClock, connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    clock.attach(connection)
    connection.execute("COMMIT")


def _save_nothing(connection: sqlite3.Connection) -> None:
    """A clock that was given keeps its own time."""
