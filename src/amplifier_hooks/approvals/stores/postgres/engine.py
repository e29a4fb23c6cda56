"""The engine of a store in PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from threading import Event
from time import monotonic
from typing import TypeVar

from amplifier_hooks.approvals.stores.engine import Change, Transaction
from amplifier_hooks.approvals.stores.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.listeners import Listeners
from amplifier_hooks.approvals.stores.postgres.address import check_address, describe_address
from amplifier_hooks.approvals.stores.postgres.connections import Connections
from amplifier_hooks.approvals.stores.postgres.mark import make_room_for_marks
from amplifier_hooks.approvals.stores.postgres.notices import Notices
from amplifier_hooks.approvals.stores.postgres.transaction import Clock
from amplifier_hooks.approvals.stores.postgres.worker import Work, Worker

T = TypeVar("T")

THREADS = 8
OLDEST_SERVER = 13
PATIENCE = 15.0
"""How long work waits for a server that does not answer, in seconds."""


class PostgresEngine:
    """One open database; a few threads do the work, each with a connection of its own."""

    def __init__(self, url: str, *, clock: Clock | None = None, patience: float = PATIENCE) -> None:
        check_address(url)
        self.address = describe_address(url)
        self._patience = patience
        self._process = os.getpid()
        self._closing = Event()
        self._connections = Connections(url)
        self._worker = Worker(self._connections, self.address, clock, self._closing)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")
        self._listeners = Listeners()
        self._notices = Notices(url, self._listeners)

    @classmethod
    async def open(
        cls, url: str, clock: Clock | None = None, *, patience: float = PATIENCE
    ) -> PostgresEngine:
        """Open a database, which must be there; one that does not answer is not waited for."""
        engine = cls(url, clock=clock, patience=patience)
        try:
            await engine._do(engine._worker.read, check_server, patience=0.0)
            await engine._do(engine._worker.prepare, make_room_for_marks)
        except BaseException:
            await engine.close()
            raise
        return engine

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a transaction; durable when this returns."""
        return await self._do(self._worker.write, work)

    async def read(self, work: Work[T]) -> T:
        """Run `work`, which changes nothing, on what is durable."""
        return await self._do(self._worker.read, work)

    async def check(self) -> None:
        """Raise StoreUnavailable unless the database answers now, and can be written to.

        In a thread of its own: that all others are at work is no failure.
        """
        self._check_open()
        # Long enough for a second try, after one on a connection of before a restart.
        deadline = monotonic() + 0.1
        await asyncio.to_thread(self._worker.read, self._check_primary, deadline)

    def _check_primary(self, transaction: Transaction) -> None:
        if transaction.run("SELECT pg_is_in_recovery() AS standby")[0]["standby"]:
            raise StoreUnavailable(f"The store at {self.address} is a standby, which cannot write")

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[Change]]:
        """Hear of changes from here on, those of other processes too."""
        self._check_open()
        self._notices.start()
        # Without an answer one listens all the same: when it is back, `*` tells of everything.
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._notices.wait_until_connected()
        async with self._listeners.listen() as changes:
            yield changes

    async def close(self) -> None:
        """Finish what is under way, and close all connections."""
        if self._closing.is_set():
            return
        self._closing.set()
        if os.getpid() == self._process:
            self._listeners.close()
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._notices.end()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._connections.close()

    async def _do(
        self, run: Callable[[Work[T], float], T], work: Work[T], patience: float | None = None
    ) -> T:
        self._check_open()
        deadline = monotonic() + (self._patience if patience is None else patience)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, run, work, deadline)

    def _check_open(self) -> None:
        if os.getpid() != self._process:
            raise StoreUnavailable(
                f"The store at {self.address} was opened in process {self._process}; after a fork,"
                " open it again"
            )
        if self._closing.is_set():
            raise StoreUnavailable(f"The store at {self.address} is closed")


def check_server(transaction: Transaction) -> None:
    """Raises StoreError for a server that is too old, or a database that cannot keep all texts."""
    found = transaction.run(
        "SELECT current_setting('server_version_num')::int AS number,"
        " current_setting('server_version') AS version,"
        " current_setting('server_encoding') AS encoding"
    )[0]
    if found["number"] < OLDEST_SERVER * 10_000:
        raise StoreError(
            f"The store needs PostgreSQL {OLDEST_SERVER} or newer; this is {found['version']}"
        )
    if found["encoding"] != "UTF8":
        raise StoreError(
            f"The store's database has the encoding {found['encoding']}; make one with UTF8"
        )
