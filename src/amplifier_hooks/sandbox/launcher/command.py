"""Starting a command: a thread enters its Landlock domain, and the command inherits it from there.

Forking this process to do it in the child would cost more than most commands take themselves. The
thread ends as soon as its command runs, because the command could signal it: both are on the same
side of the wall.
"""

from __future__ import annotations

import errno
import os
import signal
from _thread import start_new_thread
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from amplifier_hooks.sandbox.launcher.calls import restrict_self

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
