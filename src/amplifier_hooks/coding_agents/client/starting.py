"""Starting the resident process: what the client does when nobody answered it.

Loaded by `client.py` without the folder of installed packages: the standard library must do.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from amplifier_hooks.coding_agents.client.launch import Launch, read_launch

_MOST_ROUNDS = 4
_LONGEST_LOG = 1_000_000
_PROBE_SECONDS = 5.0
_AWAY = (FileNotFoundError, ConnectionRefusedError)

Answer = tuple[int, bytes, bytes]


def ask_again(client: ModuleType, call: tuple[Any, ...], failure: Exception) -> Answer:
    """Start the resident process and ask it; a question that was heard is repeated once only."""
    lost = 0
    for _ in range(_MOST_ROUNDS):
        lost += not isinstance(failure, (*_AWAY, client.Restart))
        if isinstance(failure, PermissionError) or lost > 1:
            break
        # One that hung up may be dying: it takes connections, and leaves them without an answer.
        doubtful = isinstance(failure, (TimeoutError, ConnectionResetError, BrokenPipeError))
        ensure_resident(client, call[0], hung=doubtful)
        try:
            return client.ask(*call)  # type: ignore[no-any-return]
        except (OSError, ValueError, client.Restart) as again:
            failure = again
    raise _describe(failure) from failure


def make_folder(folder: bytes) -> None:
    """Make the folder of a user who has installed nothing, as nobody else may enter it."""
    path = Path(os.fsdecode(folder))
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)  # two calls at once


def ensure_resident(client: ModuleType, folder: bytes, *, hung: bool = False) -> None:
    """Return when a resident process answers; start one if none does.

    The lock lets only one of many clients start it. With `hung`, one that is there but does not
    answer is ended first.
    """
    lock = os.open(folder + b"/start.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_answering(client, folder, probe=hung):
            start_resident(folder)
    finally:
        os.close(lock)


def is_answering(client: ModuleType, folder: bytes, *, probe: bool = False) -> bool:
    """Whether a resident process takes connections; with `probe`, end it unless it says a word."""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(folder + b"/guest.sock")
        except _AWAY:
            return False
        pid = client.check_peer(line)
        if not probe:
            return True
        line.settimeout(_PROBE_SECONDS)
        try:
            line.sendall(b"amplifier-guest 1\t\t-\tstatus\t5\t\t\t\n")
            line.shutdown(socket.SHUT_WR)
            return bool(line.recv(1))
        except TimeoutError:
            _end(pid, line)
        except OSError:
            pass
        return False


def _end(pid: int, line: socket.socket) -> None:
    """Kill the process at the other end of a connection, and wait until it is gone."""
    if pid <= 1:  # it has no number in our namespace
        raise RuntimeError("the resident process says nothing, and cannot be ended from here")
    # The number cannot be that of another process by now: this one holds our connection.
    with contextlib.suppress(ProcessLookupError, ConnectionError):
        os.kill(pid, signal.SIGKILL)
        line.recv(1)


def start_resident(folder: bytes) -> None:
    """Start the resident process and return when it is ready; RuntimeError if it ends before."""
    launch = read_launch(folder)
    log = _open_log(folder)
    known = os.lseek(log, 0, os.SEEK_END)
    ready, announce = os.pipe()
    child = os.fork()
    if child == 0:
        _leave(launch, announce, log)
    os.close(announce)
    os.waitpid(child, 0)
    with open(ready, "rb") as words:  # noqa: PTH123 - a descriptor
        if any(line == b"ready\n" for line in words):
            return
    said = _read_last_line(folder, known) or "it left no message"
    raise RuntimeError(f"the resident process ended while it started: {said}")


def _leave(launch: Launch, announce: int, log: int) -> NoReturn:
    """In the child: become a process of its own, that shares nothing with the agent."""
    try:
        os.setsid()
        if os.fork() == 0:
            _become(launch, announce, log)
    finally:
        os._exit(0)


def _become(launch: Launch, announce: int, log: int) -> NoReturn:
    try:
        # Whatever holds an output of the agent open can cost it our answer.
        nothing = os.open("/dev/null", os.O_RDWR)
        high = [fcntl.fcntl(one, fcntl.F_DUPFD, 3) for one in (nothing, announce, log)]
        for place, descriptor in enumerate(high):
            os.dup2(descriptor, place)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(0o077)
        os.chdir("/")
        os.execve(launch.argv[0], launch.argv, launch.env)
    except OSError as failure:
        os.write(2, f"{launch.argv[0]}: {failure.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _open_log(folder: bytes) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    try:
        log = os.open(folder + b"/resident.log", flags, 0o600)
        if os.fstat(log).st_size > _LONGEST_LOG:
            os.ftruncate(log, 0)
    except OSError:  # the disk is full, say: better no log than no guard
        return os.open("/dev/null", os.O_RDWR)
    return log


def _read_last_line(folder: bytes, known: int) -> str:
    try:
        with open(folder + b"/resident.log", "rb") as log:  # noqa: PTH123 - bytes
            log.seek(known)
            lines = log.read(_LONGEST_LOG).decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _describe(failure: Exception) -> Exception:
    """The failure as a sentence."""
    if isinstance(failure, TimeoutError):
        return RuntimeError("the resident process says nothing")
    if isinstance(failure, ConnectionError):
        return RuntimeError("the resident process ended without an answer, twice")
    return failure
