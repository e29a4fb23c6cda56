"""The launcher opens cells until the agent is gone; in each, a supervisor runs a command at a time.

A thread enters the Landlock domain of a command, which inherits it from there: forking this process
to do it in the child would cost more than most commands take. The thread ends as soon as its
command runs, because the command could signal it: both are on the same side of the wall.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import marshal
import os
import select
import signal
import socket
import struct
import sys
import time
from _thread import start_new_thread
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from amplifier_hooks.sandbox.launcher.kernel import (
    ANY_CHILD,
    DUMPABLE,
    NO_NEW_PRIVS,
    SUBREAPER,
    apply_filter,
    drop_capabilities,
    enter_scope,
    kill_below,
    kill_stray,
    list_descendants,
    restrict_self,
    send_signal,
    set_option,
    watch_children,
)
from amplifier_hooks.sandbox.launcher.protocol import (
    ENDED,
    FAILED,
    GONE,
    LONGEST,
    RUN,
    TERMINATE,
    WALLED,
    receive,
)

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class WalledThread:
    """A thread in a domain, which can start one command there."""

    def __init__(self, number: int, ruleset: int) -> None:
        self.number = number
        self._orders: SimpleQueue[tuple[dict[str, Any], Sequence[int]] | None] = SimpleQueue()
        self._outcomes: SimpleQueue[int | Exception] = SimpleQueue()
        # `threading` would wait until it runs, which nobody needs.
        start_new_thread(self._work, (ruleset,))

    def run(self, order: dict[str, Any], descriptors: Sequence[int]) -> int:
        """The id of the running command; raises what kept it from running."""
        self._orders.put((order, descriptors))
        outcome = self._outcomes.get()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        """End the thread without a command."""
        self._orders.put(None)
        self._outcomes.get()

    def _work(self, ruleset: int) -> None:
        outcome: int | Exception = 0
        try:
            restrict_self(ruleset)
            wanted = self._orders.get()
            if wanted is not None:
                outcome = run_program(*wanted)
        except Exception as failure:  # noqa: BLE001 - raised again by whoever waits
            outcome = failure
        self._outcomes.put(outcome)


def run_program(order: dict[str, Any], descriptors: Sequence[int]) -> int:
    """Run the program in a session of its own, which has no terminal to read from."""
    streams = [(os.POSIX_SPAWN_DUP2, descriptors[number], number) for number in (0, 1, 2)]
    if order["inherited"] is not None:
        streams.append((os.POSIX_SPAWN_DUP2, descriptors[3], order["inherited"]))
    os.chdir(order["cwd"])  # of the whole process, which runs one command at a time
    try:
        return os.posix_spawn(
            _find_program(order["argv"][0], order["env"]),
            order["argv"],
            order["env"],
            file_actions=streams,
            setsid=True,
            setsigmask=(),
            setsigdef=_IGNORED_BY_PYTHON,
        )
    finally:
        os.chdir("/")


def _find_program(name: str, env: dict[str, str]) -> str:
    """Where the command's own search path has the program."""
    if "/" in name:
        return name
    refusal = errno.ENOENT
    for folder in env.get("PATH", os.defpath).split(":"):
        path = f"{folder or '.'}/{name}"
        if os.access(path, os.X_OK):
            return path
        if os.access(path, os.F_OK):
            refusal = errno.EACCES
    raise OSError(refusal, os.strerror(refusal))


_LOOK_AGAIN = 50  # milliseconds between two attempts to end what does not end


class Supervisor:
    """Waits for commands to end, and for the agent's word to start or end one."""

    def __init__(self, control: socket.socket, wake: int, scoped: bool) -> None:
        self._control = control
        self._wake = wake
        self._scoped = scoped
        self._leader: int | None = None  # of the command that runs
        self._busy = False
        self._deadline: float | None = None
        self._killing = False
        self._alone = False
        self._profile: int | None = None  # of what this cell has given up
        self._ruleset: tuple[int, int] | None = None  # of the order before: number and descriptor
        self._thread: WalledThread | None = None

    def run(self) -> None:
        """Until the agent is gone and nothing of its command is left."""
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while not (self._alone and not self._busy):
            for descriptor, _ in poll.poll(self._choose_pause()):
                if descriptor == self._wake:
                    os.read(self._wake, 4096)
                elif not self._handle_message():
                    poll.unregister(self._control.fileno())
            if self._busy:
                self._report_ended()
            if not self._busy and not self._alone:
                self._enter_next_domain()

    def _handle_message(self) -> bool:
        """Do what the agent says; False when it is gone."""
        word, descriptors = receive(self._control, LONGEST + 1, 8)
        try:
            if word[:1] == RUN:
                self._start(_read_order(word[1:], descriptors), descriptors)
            elif word[:1] == TERMINATE:
                self._deadline = time.monotonic() + struct.unpack("d", word[1:])[0]
                self._terminate()
            else:
                self._killing = True
                self._alone = not word
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return bool(word)

    def _start(self, order: dict[str, Any], descriptors: list[int]) -> None:
        self._deadline = None
        self._killing = False
        try:
            self._leader = self._run(order, descriptors)
        except Exception as failure:  # noqa: BLE001 - the agent explains it
            number = failure.errno if isinstance(failure, OSError) else None
            text = failure.strerror if isinstance(failure, OSError) else str(failure)
            self._send(FAILED + marshal.dumps((number, text)))
            self._leader = None
        self._busy = True

    def _run(self, order: dict[str, Any], descriptors: list[int]) -> int:
        if order["profile"] is not None:
            self._drop_privileges(order)
        if not order["landlock"]:
            return run_program(order, descriptors)
        if self._thread is None or self._thread.number != order["landlock"]:
            self._leave_domain()
            self._ruleset = order["landlock"], os.dup(descriptors[3])
            self._thread = WalledThread(*self._ruleset)
        thread = self._thread
        self._thread = None
        return thread.run(order, descriptors)

    def _drop_privileges(self, order: dict[str, Any]) -> None:
        """What every command of this cell goes without; done once, for good."""
        if self._profile is None:
            set_option(NO_NEW_PRIVS, 1)
            drop_capabilities(order["capabilities"])
            if order["filter"]:
                apply_filter(order["filter"])
            self._profile = order["profile"]
        elif self._profile != order["profile"]:
            raise ValueError("the cell has given up something else than this command should")

    def _enter_next_domain(self) -> None:
        """Enter the same domain again, while nobody waits for it."""
        if self._thread is None and self._ruleset is not None:
            self._thread = WalledThread(*self._ruleset)

    def _leave_domain(self) -> None:
        if self._thread is not None:
            self._thread.close()
            self._thread = None
        if self._ruleset is not None:
            os.close(self._ruleset[1])
            self._ruleset = None

    def _report_ended(self) -> None:
        """Take note of what has ended."""
        status, empty = self._reap()
        if status is not None:
            self._leader = None
            self._send(ENDED + struct.pack("ii", status, not empty))
        elif empty:
            self._send(GONE)
        if empty:
            self._busy = False
        elif self._is_time_to_kill():
            self._kill()

    def _reap(self) -> tuple[int | None, bool]:
        """The status of the command if it has ended, and whether nothing is left."""
        ended: int | None = None
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | ANY_CHILD)
            except ChildProcessError:
                return ended, True
            if pid == 0:
                return ended, False
            # A command can have itself traced by us; then its stops are reported as well.
            if pid == self._leader and not os.WIFSTOPPED(status):
                ended = status

    def _terminate(self) -> None:
        if self._scoped:
            send_signal(-1, signal.SIGTERM)
            return
        for pid in list_descendants(os.getpid()):
            send_signal(pid, signal.SIGTERM)

    def _kill(self) -> None:
        if self._scoped:
            send_signal(-1, signal.SIGKILL)
        else:
            kill_below(os.getpid())

    def _is_time_to_kill(self) -> bool:
        late = self._deadline is not None and time.monotonic() >= self._deadline
        return self._killing or late

    def _choose_pause(self) -> int | None:
        if not self._busy or (self._deadline is None and not self._killing):
            return None
        if self._is_time_to_kill():
            return _LOOK_AGAIN
        assert self._deadline is not None
        return max(int((self._deadline - time.monotonic()) * 1000), 0) + 1

    def _send(self, word: bytes) -> None:
        with contextlib.suppress(OSError):  # the agent is gone
            self._control.send(word)


def _read_order(text: bytes, descriptors: list[int]) -> dict[str, Any]:
    """From the message itself, or from one more file when it is too long for that."""
    if not text:
        letter = descriptors.pop()
        with open(letter, "rb") as file:  # noqa: PTH123 - a descriptor
            file.seek(0)
            text = file.read()
    order: dict[str, Any] = marshal.loads(text)
    return order


_KILL_AGAIN = 0.005  # seconds between two attempts to end what does not end


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
            time.sleep(_KILL_AGAIN)


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
