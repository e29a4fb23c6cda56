"""The resident process: one for a folder, it serves the clients until nobody needs it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import json
import logging
import os
import re
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_hooks.coding_agents.client import client
from amplifier_hooks.coding_agents.client.client import VERSION, check_peer
from amplifier_hooks.coding_agents.client.launch import NAME, read_launch
from amplifier_hooks.coding_agents.daemon.dispatcher import Dispatcher, Interrupted, Lifetime
from amplifier_hooks.coding_agents.daemon.folder import RUNNING_LOCK, SOCKET, HttpPort, check_folder
from amplifier_hooks.coding_agents.daemon.protocol import (
    BEAT,
    CONTROL,
    LONGEST_HEAD,
    LONGEST_PAYLOAD,
    RESTART,
    Judge,
    Request,
    Response,
    read_patience,
    read_question,
    write_answer,
)

if TYPE_CHECKING:
    from amplifier_hooks.coding_agents.daemon.http import HttpServer


class Controls:
    """Answers `status` and `stop`."""

    def __init__(
        self, dispatcher: Dispatcher, describe_http: Callable[[], dict[str, Any] | None]
    ) -> None:
        self._dispatcher = dispatcher
        self._describe_http = describe_http

    def answer(self, event: str) -> Response:
        """Do what is asked; both answer with the state of the process as JSON."""
        if event not in {"status", "stop"}:
            return Response(2, b"", f"amplifier: there is no control {event!r}\n".encode())
        facts = {
            "version": VERSION,
            "pid": os.getpid(),
            "uptime": round(time.monotonic() - self._dispatcher.lifetime.started, 3),
            "sessions": self._dispatcher.judge.count_sessions(),
            "open": self._dispatcher.count_open(),
            "ending": self._dispatcher.lifetime.ending,
            "http": self._describe_http(),
            "alarms": self._dispatcher.judge.list_alarms(),
        }
        if event == "stop":
            self._dispatcher.lifetime.end("it was told to")
        return Response(0, json.dumps(facts).encode() + b"\n")


_VERSION_LINE = re.compile(r'^VERSION = "([^"]*)"$', re.MULTILINE)


class Freshness:
    """Compares what this process was started with to what is on the disk now."""

    def __init__(self, folder: Path, program: Path = Path(client.__file__)) -> None:
        self._launch = folder / NAME
        self._program = program
        self._seen = _get_mark(self._launch)
        self._started_with = _read(self._launch)

    def find_reason_to_restart(self, version: str) -> str:
        """Why a new process would serve a client of this version better; "" if it would not."""
        if self._has_other_launch():
            return f"{self._launch} has changed"
        if version != client.VERSION and self._read_installed() != client.VERSION:
            return f"version {self._read_installed()} is installed now"
        return ""

    def _has_other_launch(self) -> bool:
        """Whether it says something else; without the file nobody could start a new process."""
        mark = _get_mark(self._launch)
        if mark is None or mark == self._seen:
            return False
        if _read(self._launch) != self._started_with:
            return True
        self._seen = mark
        return False

    def _read_installed(self) -> str:
        found = _VERSION_LINE.search(_read(self._program).decode(errors="replace"))
        return found.group(1) if found else client.VERSION


def _get_mark(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


logger = logging.getLogger(__name__)

_BEAT_SECONDS = 1.0
_HEAD_SECONDS = 30.0
_PIECE = 262144


class Connection:
    """Serves connections, one call for each."""

    def __init__(self, dispatcher: Dispatcher, controls: Controls, freshness: Freshness) -> None:
        self._dispatcher = dispatcher
        self._controls = controls
        self._freshness = freshness

    async def serve(self, line: socket.socket) -> None:
        """Read one question from the connection and answer it; a client that leaves is no error."""
        since = time.monotonic()
        gone = asyncio.Event()
        beats = asyncio.create_task(_send_beats(line, gone))
        try:
            answer = await self._answer(line, since, gone)
        except (OSError, EOFError, TimeoutError) as failure:
            logger.debug("A client left: %s", failure)
            return
        finally:
            beats.cancel()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_HEAD_SECONDS):
                await asyncio.get_running_loop().sock_sendall(line, answer)

    async def refuse(self, line: socket.socket, why: str) -> None:
        """Answer without a look at the question, but read it: the client first writes all of it."""
        with contextlib.suppress(OSError, EOFError, TimeoutError, ValueError):
            await _read_all(line, time.monotonic())
            sentence = f"amplifier: this was not judged: {why}\n".encode()
            answer = write_answer(Response(2, b"", sentence))
            await asyncio.get_running_loop().sock_sendall(line, answer)

    async def _answer(self, line: socket.socket, since: float, gone: asyncio.Event) -> bytes:
        with self._dispatcher.lifetime.hold(use=False):
            try:
                question = read_question(await _read_all(line, since), check_peer(line))
            except ValueError as failure:
                sentence = f"amplifier: this was not judged: {failure}\n".encode(errors="replace")
                return write_answer(Response(2, b"", sentence))
            if question.request.agent == CONTROL:
                return write_answer(self._controls.answer(question.request.event))
            return await self._judge(question.version, question.request, since, gone)

    async def _judge(
        self, version: str, request: Request, since: float, gone: asyncio.Event
    ) -> bytes:
        if why := self._freshness.find_reason_to_restart(version):
            self._dispatcher.lifetime.end(why)
            return RESTART
        if version != VERSION:
            return write_answer(_refuse_version(version))
        try:
            return write_answer(await self._dispatcher.answer(request, since, gone))
        except Interrupted:
            return RESTART


def _refuse_version(version: str) -> Response:
    text = (
        f"amplifier: this was not judged: the installed command is of version {version}, the "
        f"resident process of version {VERSION}; install the guard again\n"
    )
    return Response(2, b"", text.encode(errors="replace"))


async def _read_all(line: socket.socket, since: float) -> bytes:
    """All that the client writes; ValueError if that is too much, after the last byte of it."""
    loop = asyncio.get_running_loop()
    received = bytearray()
    patience: float | None = None
    size = 0
    async with asyncio.timeout_at(loop.time() + _HEAD_SECONDS) as limit:
        while piece := await loop.sock_recv(line, _PIECE):
            size += len(piece)
            if len(received) <= LONGEST_PAYLOAD + LONGEST_HEAD:
                received += piece
            if patience is None and (patience := read_patience(bytes(received[:LONGEST_HEAD]))):
                limit.reschedule(loop.time() + patience - (time.monotonic() - since))
    if size > LONGEST_PAYLOAD:
        raise ValueError(f"the event has {size} bytes; at most {LONGEST_PAYLOAD} are read")
    if not size:
        raise EOFError("it asked nothing")
    return bytes(received)


async def _send_beats(line: socket.socket, gone: asyncio.Event) -> None:
    """Show the client that its question is being worked on, and notice when it has left."""
    try:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            with contextlib.suppress(BlockingIOError):  # it will have read the earlier ones first
                line.send(BEAT)
    except OSError:
        gone.set()


IDLE_SECONDS = 900.0
_GRACE = 10.0
_CLOSE_SECONDS = 30.0
_MOST_CONNECTIONS = 512
_BACKLOG = 1024
_PAUSE = 0.1


class Daemon:
    """Serves the clients of one user until it is told to end, or nobody has asked for a while.

    Whoever runs it holds the lock on the folder: see `running.py`.
    """

    def __init__(
        self,
        folder: Path,
        judge: Judge,
        *,
        idle_seconds: float = IDLE_SECONDS,
        http: HttpPort | None = None,
        grace: float = _GRACE,
    ) -> None:
        self._path = folder / SOCKET
        self._grace = grace
        self._judge = judge
        self._lifetime = Lifetime(idle_seconds, self._stop_listening)
        self._dispatcher = Dispatcher(judge, self._lifetime)
        self._http_port = http
        self._http: HttpServer | None = None
        controls = Controls(self._dispatcher, self._describe_http)
        self._connection = Connection(self._dispatcher, controls, Freshness(folder))
        self._listener = socket.socket(socket.AF_UNIX)
        self._number = -1
        self._connections: set[asyncio.Task[None]] = set()

    async def run(self, announce: Callable[[], None] = lambda: None) -> None:
        """Serve; `announce` is called when clients can connect."""
        self._start_listening()
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
        if self._http_port is not None:
            # Most installations need none of what it imports.
            from amplifier_hooks.coding_agents.daemon.http import HttpServer

            self._http = HttpServer(self._http_port, self._dispatcher)
            await self._http.open()

    def _describe_http(self) -> dict[str, object] | None:
        return self._http.describe() if self._http else None

    def _start_listening(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # one that ended without removing it
            self._path.unlink()
        self._listener.setblocking(False)
        self._listener.bind(str(self._path))
        self._path.chmod(0o600)
        self._number = self._path.lstat().st_ino
        self._listener.listen(_BACKLOG)
        self._listen()

    def _stop_listening(self) -> None:
        """Remove the name, so that whoever comes from now on starts a new process."""
        with contextlib.suppress(OSError):
            if self._path.lstat().st_ino == self._number:  # nobody has made the folder anew
                self._path.unlink()

    def _accept(self) -> None:
        """Serve who has connected; without awaiting anything, so that nobody gets lost."""
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
                    await self._connection.refuse(
                        line, f"{_MOST_CONNECTIONS} calls are open already"
                    )
                else:
                    await self._connection.serve(line)
            except Exception:
                logger.exception("A client got no answer")

    async def _leave(self) -> None:
        self._lifetime.end("the server was cancelled")
        asyncio.get_running_loop().remove_reader(self._listener)
        self._accept()  # who connected before the name was removed
        self._listener.close()
        if self._http:
            self._http.close()
        await self._dispatcher.finish(self._grace)
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
