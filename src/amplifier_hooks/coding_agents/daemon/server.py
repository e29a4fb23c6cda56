"""The server of the resident process: its socket, its doors, its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_hooks.coding_agents.client.client import check_peer
from amplifier_hooks.coding_agents.daemon.control import Controls
from amplifier_hooks.coding_agents.daemon.desk import Desk
from amplifier_hooks.coding_agents.daemon.exchange import Exchange
from amplifier_hooks.coding_agents.daemon.folder import SOCKET
from amplifier_hooks.coding_agents.daemon.freshness import Freshness
from amplifier_hooks.coding_agents.daemon.launching import Door
from amplifier_hooks.coding_agents.daemon.lifetime import Lifetime
from amplifier_hooks.coding_agents.daemon.request import Judge

if TYPE_CHECKING:
    from amplifier_hooks.coding_agents.daemon.http import HttpServer

logger = logging.getLogger(__name__)

IDLE_SECONDS = 900.0
_GRACE = 10.0
_CLOSE_SECONDS = 30.0
_MOST_CONNECTIONS = 512
_BACKLOG = 1024
_PAUSE = 0.1


class Resident:
    """Serves the clients of one user until it is told to end, or nobody has asked for a while.

    Whoever runs it holds the lock on the folder: see `running.py`.
    """

    def __init__(
        self,
        folder: Path,
        judge: Judge,
        *,
        idle_seconds: float = IDLE_SECONDS,
        door: Door | None = None,
        grace: float = _GRACE,
    ) -> None:
        self._path = folder / SOCKET
        self._grace = grace
        self._judge = judge
        self._lifetime = Lifetime(idle_seconds, self._close_doors)
        self._desk = Desk(judge, self._lifetime)
        self._door = door
        self._http: HttpServer | None = None
        controls = Controls(self._desk, self._describe_http)
        self._exchange = Exchange(self._desk, controls, Freshness(folder))
        self._listener = socket.socket(socket.AF_UNIX)
        self._number = -1
        self._connections: set[asyncio.Task[None]] = set()

    async def run(self, announce: Callable[[], None] = lambda: None) -> None:
        """Serve; `announce` is called when clients can connect."""
        self._open_doors()
        try:
            await self._open_http()
            announce()
            await self._lifetime.wait(self._judge.holds_open)
        finally:
            await self._leave()

    def end(self, why: str) -> None:
        """Let it end after what is open."""
        self._lifetime.end(why)

    async def _open_http(self) -> None:
        if self._door is not None:
            # Most installations need none of what it imports.
            from amplifier_hooks.coding_agents.daemon.http import HttpServer

            self._http = HttpServer(self._door, self._desk)
            await self._http.open()

    def _describe_http(self) -> dict[str, object] | None:
        return self._http.describe() if self._http else None

    def _open_doors(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # one that ended without removing it
            self._path.unlink()
        self._listener.setblocking(False)
        self._listener.bind(str(self._path))
        self._path.chmod(0o600)
        self._number = self._path.lstat().st_ino
        self._listener.listen(_BACKLOG)
        self._listen()

    def _close_doors(self) -> None:
        """Remove the name, so that whoever comes from now on starts a new process."""
        with contextlib.suppress(OSError):
            if self._path.lstat().st_ino == self._number:  # nobody has made the folder anew
                self._path.unlink()

    def _accept(self) -> None:
        """Serve who waits at the door; without awaiting anything, so that nobody gets lost."""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                try:
                    self._start(self._listener.accept()[0])
                except OSError as failure:
                    if failure.errno not in {errno.EMFILE, errno.ENFILE, errno.ENOMEM}:
                        raise
                    logger.warning("A connection has to wait: %s", failure)
                    self._pause()
                    return

    def _pause(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener)
        loop.call_later(_PAUSE, self._listen)

    def _listen(self) -> None:
        if self._listener.fileno() >= 0:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _start(self, line: socket.socket) -> None:
        task = asyncio.create_task(self._serve(line))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, line: socket.socket) -> None:
        with line:
            line.setblocking(False)
            try:
                check_peer(line)
            except PermissionError as failure:
                logger.warning("A connection was refused: %s", failure)
                return
            try:
                if len(self._connections) > _MOST_CONNECTIONS:
                    await self._exchange.refuse(line, f"{_MOST_CONNECTIONS} calls are open already")
                else:
                    await self._exchange.serve(line)
            except Exception:
                logger.exception("A client got no answer")

    async def _leave(self) -> None:
        self._lifetime.end("the server was cancelled")
        asyncio.get_running_loop().remove_reader(self._listener)
        self._accept()  # who connected before the name was removed
        self._listener.close()
        if self._http:
            self._http.close()
        await self._desk.finish(self._grace)
        if self._connections:
            await asyncio.wait(set(self._connections), timeout=self._grace)
        if self._http:
            await self._http.finish(self._grace)
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._judge.close()
        except Exception:
            logger.exception("The sessions were not all suspended")


def read_idle_seconds(text: str | None = None) -> float:
    """AMPLIFIER_GUEST_IDLE in seconds; ValueError says what is wrong with it."""
    text = os.environ.get("AMPLIFIER_GUEST_IDLE") if text is None else text
    if not text:
        return IDLE_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e9:
        raise ValueError(f"AMPLIFIER_GUEST_IDLE must be a number of seconds above 0, not {text!r}")
    return seconds
