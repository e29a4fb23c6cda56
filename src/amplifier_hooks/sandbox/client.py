"""The agent's side of the launcher: one for each process, and the cells that commands run in."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import marshal
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.sandbox.launcher.protocol import (
    ENDED,
    FAILED,
    GONE,
    KILL,
    LONGEST,
    PLAIN,
    RUN,
    TERMINATE,
    WALLED,
)

_MOMENT = 1.0  # seconds for what was killed to be gone
_LONGEST_WORD = 4096


class CellLost(Exception):
    """The supervisor of a command has gone, and with it all knowledge of the command."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a cell is to run. `inherited` is the number of one more descriptor for the program.

    Behind a wall `profile` is the number of what the cell gives up for good, namely the
    capabilities and the system calls that follow, and `landlock` that of the rule set.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    profile: int | None = None
    capabilities: int = -1
    filter: bytes = b""
    landlock: int = 0
    inherited: int | None = None


class Cell:
    """A process that starts a command and inherits everything that the command leaves behind."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._control.setblocking(False)
        self._ended: asyncio.Future[int] | None = None
        self._gone: asyncio.Future[None] | None = None
        self.usable = True
        self.profile: int | None = None
        self.landlock = 0  # of its last command

    def start(self, order: Order, descriptors: Sequence[int]) -> None:
        """Send the order; raises OSError if nobody is there to follow it."""
        loop = asyncio.get_running_loop()
        text = marshal.dumps(_encode(order))
        if len(text) <= LONGEST:
            socket.send_fds(self._control, [RUN, text], descriptors)
        else:
            with open(os.memfd_create("order", os.MFD_CLOEXEC), "wb", 0) as letter:  # noqa: PTH123
                letter.write(text)
                socket.send_fds(self._control, [RUN], [*descriptors, letter.fileno()])
        self.profile = order.profile
        self.landlock = order.landlock
        self._ended, self._gone = loop.create_future(), loop.create_future()
        loop.add_reader(self._control.fileno(), self._receive)

    async def wait(self) -> int:
        """The exit code of the command, once it has ended; raises what kept it from running."""
        assert self._ended is not None
        return await asyncio.shield(self._ended)

    @property
    def returncode(self) -> int | None:
        """The exit code, if the command has ended."""
        if self._ended is None or not self._ended.done() or self._ended.exception():
            return None
        return self._ended.result()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of a command is left."""
        return self._gone is None or self._gone.done()

    async def end(self, grace: float) -> None:
        """TERM everything, and KILL what is left after a moment of grace."""
        self._send(TERMINATE + struct.pack("d", grace))
        await self._wait_until_gone(grace + _MOMENT)

    async def kill(self, patience: float) -> None:
        """KILL everything, and wait for the end no longer than this."""
        self._send(KILL)
        await self._wait_until_gone(patience)

    def close(self) -> None:
        """Let go of the cell: whatever still runs in it is killed."""
        self.usable = False
        if self._gone is not None and not self._gone.done():
            self._gone.get_loop().remove_reader(self._control.fileno())
            self._gone.cancel()
        self._control.close()

    async def _wait_until_gone(self, patience: float) -> None:
        if self._gone is not None and not self._gone.done():
            await asyncio.wait({self._gone}, timeout=patience)

    def _send(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # it is gone, which `_receive` will notice
            self._control.send(word)

    def _receive(self) -> None:
        try:
            word = self._control.recv(_LONGEST_WORD)
        except BlockingIOError:
            return
        except OSError:
            word = b""
        if word[:1] == ENDED:
            status, left = struct.unpack("ii", word[1:])
            self._set_result(os.waitstatus_to_exitcode(status))
            if not left:
                self._finish()
        elif word[:1] == FAILED:
            self._set_result(_read_failure(word[1:]))
        else:
            self.usable = word[:1] == GONE
            self._set_result(CellLost())
            self._finish()

    def _set_result(self, result: int | Exception) -> None:
        assert self._ended is not None
        if self._ended.done():
            return
        if isinstance(result, int):
            self._ended.set_result(result)
        else:
            self._ended.set_exception(result)
            self._ended.exception()  # seen: a command that is being ended is not asked

    def _finish(self) -> None:
        assert self._gone is not None
        self._gone.get_loop().remove_reader(self._control.fileno())
        if not self._gone.done():
            self._gone.set_result(None)


def _encode(order: Order) -> dict[str, object]:
    """As a cell reads it, which takes every text for UTF-8."""
    plain = {name: getattr(order, name) for name in Order.__slots__}
    if sys.getfilesystemencoding() != "utf-8":
        plain["argv"] = [_convert(word) for word in order.argv]
        plain["env"] = {_convert(key): _convert(value) for key, value in order.env.items()}
        plain["cwd"] = _convert(order.cwd)
    return plain


def _convert(text: str) -> str:
    return os.fsencode(text).decode("utf-8", "surrogateescape")


def _read_failure(told: bytes) -> Exception:
    number, text = marshal.loads(told)
    return ValueError(text) if number is None else OSError(number, text)


_MOST_IDLE = 4
_PAUSE, _PATIENCE = 0.005, 400  # seconds, times that long, for a launcher to end at our own end
_CHANNEL = 3  # the launcher's descriptor
_PACKAGES = ("amplifier_hooks", "sandbox", "launcher")
# Modules are found in the packages' folders without running the packages themselves, which import
# much that a process that forks often should not carry.
_BOOT = """
import sys
path, name = sys.argv[2], ""
for part in {packages!r}:
    path, name = path + "/" + part, name + "." * bool(name) + part
    package = sys.modules[name] = type(sys)(name)
    package.__path__ = [path]
from {name}.program import main
main()
"""
_KEPT = ("LD_LIBRARY_PATH", "AMPLIFIER_COMMAND_ID")


class LauncherUnavailable(Exception):
    """No launcher could be started, or it does not answer."""


class Launcher:
    """Opens cells of one kind, and keeps idle ones: opening one takes longer than using it."""

    def __init__(self, kind: bytes) -> None:
        self._kind = kind
        self._channel: socket.socket | None = None
        self._process = 0
        self._owner = 0
        self._ending: list[int] = []
        self._idle: list[Cell] = []
        self._lock = threading.Lock()

    def run(self, order: Order, descriptors: Sequence[int]) -> Cell:
        """Start a command in a cell; `release` the cell when the command has ended."""
        with self._lock:
            self._forget_inherited()
            while (idle := self._choose_idle(order)) is not None:
                try:
                    idle.start(order, descriptors)
                    return idle
                except (BrokenPipeError, ConnectionError):  # killed while it was idle
                    idle.close()
            cell = self._open()
        cell.start(order, descriptors)
        return cell

    def _choose_idle(self, order: Order) -> Cell | None:
        """One that has given up the same, best with the same rule set at hand."""
        fitting = [cell for cell in self._idle if cell.profile == order.profile]
        same = [cell for cell in fitting if cell.landlock == order.landlock]
        if not fitting:
            return None
        chosen = (same or fitting)[-1]
        self._idle.remove(chosen)
        return chosen

    def release(self, cell: Cell) -> None:
        """Keep an empty cell for the next command; close any other."""
        with self._lock:
            if cell.usable and cell.is_empty:
                self._idle.append(cell)
                if len(self._idle) <= _MOST_IDLE:
                    return
                cell = self._idle.pop(0)
            if not cell.usable:  # it was killed; the launcher ends whatever was below it
                self._close()
        cell.close()

    def close(self) -> None:
        """End the launcher and all its cells, with the commands in them."""
        with self._lock:
            self._close()
            for _ in range(_PATIENCE):
                self._reap()
                if not self._ending:
                    break
                time.sleep(_PAUSE)

    def _open(self) -> Cell:
        for _ in range(2):
            if self._channel is None:
                self._launch()
            assert self._channel is not None
            ours, theirs = _make_pair()
            try:
                socket.send_fds(self._channel, [self._kind], [theirs.fileno()])
                return Cell(ours)
            except OSError:
                ours.close()
                self._close()
            finally:
                theirs.close()
        raise LauncherUnavailable("the process that starts commands ends as soon as it is started")

    def _launch(self) -> None:
        if not hasattr(os, "posix_spawn") or not sys.executable:
            raise LauncherUnavailable("no Python interpreter can be started here")
        self._reap()
        ours, theirs = _make_pair()
        theirs.set_inheritable(True)
        try:
            self._process = _spawn(theirs.fileno(), self._kind)
        except OSError as failure:
            ours.close()
            message = f"its sandbox cannot be started ({failure.strerror})"
            raise LauncherUnavailable(message) from failure
        finally:
            theirs.close()
        self._channel, self._owner = ours, os.getpid()

    def _close(self) -> None:
        while self._idle:
            self._idle.pop().close()
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process and self._owner == os.getpid():
            self._ending.append(self._process)
        self._process = 0

    def _reap(self) -> None:
        """Forget launchers that have ended; they take a moment, because they end everything."""
        for process in tuple(self._ending):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(process, os.WNOHANG)[0] == 0:
                    continue
            self._ending.remove(process)

    def _forget_inherited(self) -> None:
        """After a fork, the launcher is the parent's."""
        if self._channel is not None and self._owner != os.getpid():
            self._close()
            self._ending.clear()


def _make_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _spawn(channel: int, kind: bytes) -> int:
    packages = Path(__file__).resolve().parents[2]
    boot = _BOOT.format(packages=_PACKAGES, name=".".join(_PACKAGES))
    null = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", boot, str(_CHANNEL), str(packages), kind.decode()],
        {name: os.environ[name] for name in _KEPT if name in os.environ},
        file_actions=[(os.POSIX_SPAWN_DUP2, channel, _CHANNEL), *null],
        # From its first moment: a person's Ctrl-C is for the agent, and must not end its commands.
        setsid=True,
    )


_LAUNCHERS = {True: Launcher(WALLED), False: Launcher(PLAIN)}


def get_launcher(*, walled: bool) -> Launcher:
    """The launcher of this process for commands with or without a wall."""
    return _LAUNCHERS[walled]


@atexit.register
def close_launchers() -> None:
    """End both, and with them their idle cells."""
    for launcher in _LAUNCHERS.values():
        launcher.close()
