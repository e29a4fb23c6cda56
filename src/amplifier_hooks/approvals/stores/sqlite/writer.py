"""The one thread that writes: it takes all work that waits and makes it durable together.

A sync of the disk takes milliseconds, whatever it syncs. So the works that came in meanwhile share
one transaction, each within its own savepoint: one that fails takes nothing else with it.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence

from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.approvals.stores.listeners import SOMETHING, Listeners
from amplifier_hooks.approvals.stores.sqlite.connection import SqliteTransaction
from amplifier_hooks.approvals.stores.sqlite.job import Job, report

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
