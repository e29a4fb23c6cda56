"""Running as the one daemon of a folder: its lock, its log, and its word to who started it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.folder import RUNNING_LOCK, SOCKET, HttpPort, check_folder
from amplifier_hooks.coding_agents.daemon.protocol import Judge
from amplifier_hooks.coding_agents.daemon.server import Daemon, read_idle_seconds

LONGEST = 1_000_000


class BoundedHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to a file that is emptied when it has grown too long."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        trim_log()
        super().emit(record)


def set_up_log() -> None:
    """Log warnings, and when the process started and ended, to standard error."""
    logging.raiseExceptions = False  # on a full disk there is nowhere to complain
    handler = BoundedHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("amplifier_hooks.coding_agents").setLevel(logging.INFO)


def trim_log(descriptor: int = 2, longest: int = LONGEST) -> None:
    """Empty the file behind a descriptor, if it is a file and longer than it may be."""
    with contextlib.suppress(OSError):
        facts = os.fstat(descriptor)
        if stat.S_ISREG(facts.st_mode) and facts.st_size > longest:
            os.ftruncate(descriptor, 0)


_LONGEST_WAIT = 60.0
_STEP = 0.02
_TRIM_SECONDS = 60.0


def run_resident(folder: Path, create_judge: Callable[[], Judge]) -> int:
    """Serve the clients of a folder until there is no more need; the exit code of the process.

    If another process serves them already, there is nothing to do.
    """
    os.umask(0o077)
    try:
        check_folder(folder)
        idle = read_idle_seconds()
        set_up_log()
        lock = take_lock(folder)
    except (OSError, ValueError) as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    if lock is None:
        announce_ready()
        return 0
    try:
        asyncio.run(_serve(folder, create_judge, idle))
    finally:
        os.close(lock)
    return 0


def take_lock(folder: Path, patience: float = _LONGEST_WAIT) -> int | None:
    """The lock of the one resident process, or None while another one serves.

    One that no longer serves, but still ends, is waited for; TimeoutError if that takes too long.
    """
    lock = os.open(folder / RUNNING_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    limit = time.monotonic() + patience
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        if _is_served(folder):
            os.close(lock)
            return None
        if time.monotonic() > limit:
            os.close(lock)
            raise TimeoutError(f"The resident process before this one has not ended: {folder}")
        time.sleep(_STEP)


def announce_ready() -> None:
    """Tell whoever started the process that clients can connect, and let go of them."""
    with contextlib.suppress(OSError):
        os.write(1, b"ready\n")
    os.dup2(2, 1)


async def _serve(folder: Path, create_judge: Callable[[], Judge], idle: float) -> None:
    http = read_port(folder)
    daemon = Daemon(folder, create_judge(), idle_seconds=idle, http=http)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, daemon.end, f"signal {number.name}")
    trimming = asyncio.create_task(_keep_log_short())
    await daemon.run(announce_ready)
    trimming.cancel()


async def _keep_log_short() -> None:
    """What hooks print goes to the log as well, past the one that counts."""
    while True:
        await asyncio.sleep(_TRIM_SECONDS)
        trim_log()


def read_port(folder: Path) -> HttpPort | None:
    """Where to serve HTTP; None if launch.json asks for none, or is not there."""
    try:
        http = read_launch(os.fsencode(folder)).http
    except ValueError:
        return None
    if http is None:
        return None
    try:
        return HttpPort(int(http["port"]), str(http["token"]))
    except (KeyError, TypeError, ValueError):
        logging.getLogger(__name__).warning("launch.json has no port and token for HTTP: ignored")
        return None


def _is_served(folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(str(folder / SOCKET))
        except OSError:
            return False
        return True
