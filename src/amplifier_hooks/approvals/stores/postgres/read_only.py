"""A store on PostgreSQL for those who only look: the server refuses them every change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import psycopg

from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.migrations.version import check_version
from amplifier_hooks.approvals.stores.postgres.address import check_address, describe_address
from amplifier_hooks.approvals.stores.postgres.connections import Connections
from amplifier_hooks.approvals.stores.postgres.failure import is_outage, translate
from amplifier_hooks.approvals.stores.postgres.transaction import (
    Clock,
    PostgresTransaction,
    begin_reading,
    roll_back,
)

T = TypeVar("T")


class ReadOnlyPostgres:
    """Reads in transactions that cannot write, on connections that begin no others."""

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        check_address(url)
        self.address = describe_address(url)
        self._clock = clock
        self._connections = Connections(url)

    async def read(self, work: Callable[[Transaction], T]) -> T | None:
        """Run `work` on what is durable."""
        return await asyncio.to_thread(self._read, work)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._connections.close)

    def _read(self, work: Callable[[Transaction], T]) -> T:
        try:
            return self._read_once(work)
        except psycopg.Error as error:
            if not is_outage(error):
                raise translate(error, self.address) from error
        # The server may have been restarted since the last read.
        self._connections.drop_idle()
        try:
            return self._read_once(work)
        except psycopg.Error as error:
            raise translate(error, self.address) from error

    def _read_once(self, work: Callable[[Transaction], T]) -> T:
        with self._connections.lend() as connection:
            connection.statements.execute("SET default_transaction_read_only = on")
            begin_reading(connection)
            try:
                transaction = PostgresTransaction(connection, self._clock)
                check_version(transaction, self.address)
                return work(transaction)
            finally:
                roll_back(connection)
