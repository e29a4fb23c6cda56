"""The thread that hears what the database announces."""

from __future__ import annotations

import asyncio
import os
import selectors
from threading import Event, Thread

import psycopg

from amplifier_hooks.approvals.stores.listeners import SOMETHING, Listeners
from amplifier_hooks.approvals.stores.postgres.connection import Connection, open_connection
from amplifier_hooks.approvals.stores.postgres.transaction import CHANNEL, read_notice

SILENT_SECONDS = 10.0
"""After that time without a notice it asks whether the server is still there."""
LOOK_SECONDS = 0.005
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


class Notices:
    """Tells listeners of changes; after the connection was lost, that any may have been made."""

    def __init__(self, url: str, listeners: Listeners) -> None:
        self._url = url
        self._listeners = listeners
        self._thread: Thread | None = None
        self._ended = Event()
        self._wake_reader, self._wake_writer = os.pipe()
        self.connected = Event()

    def start(self) -> None:
        """Begin to listen, if it does not yet."""
        if self._thread is None:
            self._thread = Thread(target=self._listen_always, name="store-notices", daemon=True)
            self._thread.start()

    async def wait_until_connected(self) -> None:
        """Without a thread that waits: the event loop's own may all be in use."""
        while not self.connected.is_set():  # noqa: ASYNC110 - a thread sets it
            await asyncio.sleep(LOOK_SECONDS)

    def end(self) -> None:
        """Listen no more; returns when the thread is gone."""
        if self._ended.is_set():
            return
        self._ended.set()
        os.write(self._wake_writer, b"\0")
        if self._thread is not None:
            self._thread.join()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _listen_always(self) -> None:
        pause = SHORTEST_PAUSE
        while not self._ended.is_set():
            try:
                with open_connection(self._url) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    pause = SHORTEST_PAUSE
                    self._listeners.publish([SOMETHING])
                    self.connected.set()
                    self._listen(connection)
            except psycopg.Error:
                self.connected.clear()
                self._ended.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    def _listen(self, connection: Connection) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._wake_reader, selectors.EVENT_READ)
            while not self._ended.is_set():
                notices = connection.notifies(timeout=0)
                self._listeners.publish([read_notice(notice.payload) for notice in notices])
                if not selector.select(SILENT_SECONDS):
                    connection.execute("SELECT 1")
