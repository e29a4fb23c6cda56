"""A few threads that read, each on a connection of its own."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence

from amplifier_hooks.approvals.stores.sqlite.connection import SqliteTransaction
from amplifier_hooks.approvals.stores.sqlite.job import Job, report


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
