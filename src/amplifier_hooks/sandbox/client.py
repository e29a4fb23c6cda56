"""The agent's side of the launcher: one for each process, started when it is first needed."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from amplifier_hooks.sandbox.cell import Cell, Order
from amplifier_hooks.sandbox.launcher.words import PLAIN, WALLED

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
        """Start a command in a cell; `give_back` the cell when the command has ended."""
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

    def give_back(self, cell: Cell) -> None:
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
