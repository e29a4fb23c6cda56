"""The launcher itself: it opens cells until the agent is gone."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time

from amplifier_hooks.sandbox.launcher.kernel import (
    ANY_CHILD,
    DUMPABLE,
    SUBREAPER,
    enter_scope,
    kill_below,
    kill_stray,
    send_signal,
    set_option,
    watch_children,
)
from amplifier_hooks.sandbox.launcher.protocol import WALLED, receive
from amplifier_hooks.sandbox.launcher.supervisor import Supervisor

_AGAIN = 0.005  # seconds between two attempts to end what does not end


def main() -> None:
    """Serve the agent on the descriptor that the first argument names."""
    channel = int(sys.argv[1])
    os.closerange(channel + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(channel, False)
    set_option(SUBREAPER, 1)
    set_option(DUMPABLE, 0)  # so that no command can look into it or take it over
    scoped = sys.argv[3].encode() == WALLED and enter_scope()
    gc.collect()
    gc.freeze()  # so that a fork does not copy what it only looks at
    serve(socket.socket(fileno=channel), scoped)


def serve(channel: socket.socket, scoped: bool) -> None:
    """Open a cell for every message, until the agent is gone."""
    wake = watch_children()
    cells: set[int] = set()
    poll = select.poll()
    poll.register(channel.fileno(), select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if wake in ready:
            os.read(wake, 4096)
            reap(cells, scoped)
        if channel.fileno() in ready:
            kind, descriptors = receive(channel, 1, 1)
            if not kind:
                end_everything(scoped)
                return
            cells.add(open_cell(kind, descriptors[0], channel))


def reap(cells: set[int], scoped: bool) -> None:
    """Forget the cells that have ended; after one that was killed or stopped, everything ends."""
    killed = False
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED | ANY_CHILD)
            if pid == 0:
                break
            killed |= pid in cells and not os.WIFEXITED(status)
            cells.discard(pid)
    if killed and scoped:
        send_signal(-1, signal.SIGKILL)
    elif killed:
        kill_stray(cells)


def end_everything(scoped: bool) -> None:
    """KILL all cells with what is in them, again until nothing is left."""
    with contextlib.suppress(ChildProcessError):
        while True:
            if scoped:
                send_signal(-1, signal.SIGKILL)
            else:
                kill_below(os.getpid())
            while os.waitpid(-1, os.WNOHANG | ANY_CHILD)[0]:
                pass
            time.sleep(_AGAIN)


def open_cell(kind: bytes, descriptor: int, channel: socket.socket) -> int:
    """Fork a cell; returns the id of its process."""
    pid = os.fork()
    if pid:
        os.close(descriptor)
        return pid
    try:
        channel.close()
        set_option(SUBREAPER, 1)
        scoped = kind == WALLED and enter_scope()
        Supervisor(socket.socket(fileno=descriptor), watch_children(), scoped).run()
    finally:
        os._exit(0)
