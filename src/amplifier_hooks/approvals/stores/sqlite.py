"""A store in one file: one thread that writes, a few that read, nothing that blocks the loop."""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.engine import SOMETHING, Change, Listeners, Transaction
from amplifier_hooks.approvals.stores.jobs import Job, report
from amplifier_hooks.approvals.stores.sqlite_connection import (
    BootClock,
    Clock,
    SqliteTransaction,
    connect,
    name_failure,
    prepare_file,
)


class Readers:
    """Shares the works among its threads; each work sees one state of the database."""

    def __init__(
        self,
        connections: Sequence[sqlite3.Connection],
        describe: Callable[[sqlite3.Error], Exception],
    ) -> None:
        self._describe = describe
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._connections = connections
        self._threads = [
            threading.Thread(
                target=self._work, args=(connection,), name="store-reader", daemon=True
            )
            for connection in connections
        ]
        for thread in self._threads:
            thread.start()

    def put(self, job: Job) -> None:
        """Do this as soon as a thread is free."""
        self._jobs.put(job)

    def close(self) -> None:
        """Finish what was put, and end; blocks."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread, connection in zip(self._threads, self._connections, strict=True):
            thread.join()
            connection.close()

    def _work(self, connection: sqlite3.Connection) -> None:
        while (job := self._jobs.get()) is not None:
            if not job.future.cancelled():
                self._read(connection, job)
                report([job])

    def _read(self, connection: sqlite3.Connection, job: Job) -> None:
        try:
            connection.execute("BEGIN")
            job.result = job.work(SqliteTransaction(connection))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever awaits the work
            job.error = self._describe(error) if isinstance(error, sqlite3.Error) else error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


GROUP = 256
"""How many works share one transaction at most."""
POLL = 0.05
"""Seconds between two looks for what other processes have written, while somebody listens."""


class Writer:
    """Owns the writing connection and its thread."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        listeners: Listeners,
        describe: Callable[[sqlite3.Error], Exception],
        save_clock: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._connection = connection
        self._listeners = listeners
        self._describe = describe
        self._save_clock = save_clock
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._version = self._read_version()
        self._looked = time.monotonic()
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        """Do this next, together with what else is there."""
        self._jobs.put(job)

    def wake(self) -> None:
        """Begin to look for what others write, now that somebody listens."""
        self._jobs.put(Job.make(lambda transaction: None))

    def close(self) -> None:
        """Finish what was put, and end; blocks."""
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _work(self) -> None:
        open = True
        while open:
            jobs, open = self._gather()
            if jobs:
                self._write_group(jobs)
            self._look_for_others()

    def _gather(self) -> tuple[list[Job], bool]:
        """The works that wait; False once the end was among them."""
        jobs: list[Job] = []
        try:
            job = self._jobs.get(timeout=POLL if self._listeners else None)
            while job is not None:
                jobs.append(job)
                if len(jobs) == GROUP:
                    return jobs, True
                job = self._jobs.get_nowait()
        except queue.Empty:
            return jobs, True
        return jobs, False

    def _write_group(self, jobs: Sequence[Job]) -> None:
        wanted = [job for job in jobs if not job.future.cancelled()]
        changes: list[Change] = []
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in wanted:
                changes += self._write_one(job)
            self._save_clock(self._connection)
            self._connection.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - whatever it was, nothing was written
            self._fail(wanted, error)
            changes.clear()
        if changes:
            self._listeners.publish(list(dict.fromkeys(changes)))
        report(wanted)

    def _write_one(self, job: Job) -> list[Change]:
        transaction = SqliteTransaction(self._connection)
        self._connection.execute("SAVEPOINT work")
        try:
            job.result = job.work(transaction)
        except BaseException as error:
            # When the disk is full, SQLite ends the whole transaction by itself.
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO work")
            self._connection.execute("RELEASE work")
            job.error = self._describe(error) if isinstance(error, sqlite3.Error) else error
            return []
        self._connection.execute("RELEASE work")
        return transaction.changes

    def _fail(self, jobs: Sequence[Job], error: BaseException) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        for job in jobs:
            job.error = self._describe(error) if isinstance(error, sqlite3.Error) else error

    def _look_for_others(self) -> None:
        if not self._listeners or time.monotonic() - self._looked < POLL:
            return
        self._looked = time.monotonic()
        version = self._read_version()
        if version != self._version:
            self._version = version
            self._listeners.publish([SOMETHING])

    def _read_version(self) -> int:
        """Changes when another connection has written, and not when this one has."""
        try:
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[
                "data_version"
            ]
        except sqlite3.Error:
            return -1
        return version


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

    async def write(self, work: Callable[[Transaction], T], *, repeatable: bool = False) -> T:
        """Run `work` in a transaction; durable when this returns. No COMMIT gets lost here."""
        self._refuse_misuse()
        job = Job.make(work)
        self._writer.put(job)
        return cast(T, await job.future)

    async def read(self, work: Callable[[Transaction], T], *, one_state: bool = True) -> T:
        """Run `work`, which changes nothing, on what is durable; always on one state of it."""
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
