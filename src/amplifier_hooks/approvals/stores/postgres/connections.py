"""The connections that are open: each is lent to one thread at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from psycopg.pq import TransactionStatus

from amplifier_hooks.approvals.stores.postgres.connection import Connection, open_connection


class Connections:
    """As many as there are borrowers at once; one that is not as it was lent is closed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._idle: list[Connection] = []
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Connection]:
        """A connection; after an error within, it is lent again only if it is not to blame."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = open_connection(self._url)
        try:
            yield connection
        finally:
            self._take_back(connection)

    def _take_back(self, connection: Connection) -> None:
        sound = connection.info.transaction_status is TransactionStatus.IDLE
        with self._lock:
            if sound and not connection.closed and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def drop_idle(self) -> None:
        """Close those that nobody has: the server was restarted, and they are all broken."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close everything, what is lent when it comes back."""
        self._closed = True
        self.drop_idle()
