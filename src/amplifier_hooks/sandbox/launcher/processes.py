"""Finding and ending the descendants of a process."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

ANY_CHILD = 0x40000000  # __WALL: also children that were cloned without a signal
_ROUNDS = 50


def watch_children() -> int:
    """A descriptor that becomes readable when a child has ended."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read


def list_descendants(root: int) -> set[int]:
    """Every process below another one, as /proc tells it."""
    children: dict[int, list[int]] = {}
    for pid in _list_processes():
        children.setdefault(_read_parent(pid), []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        new = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
        found.update(new)
        waiting += new
    return found


def send_signal(pid: int, number: int) -> None:
    """Signal a process that may be gone, or not ours any more."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_below(root: int) -> None:
    """KILL all descendants; they are stopped first, so that none forks meanwhile."""
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        new = list_descendants(root) - stopped
        for pid in new:
            send_signal(pid, signal.SIGSTOP)
        stopped |= new
        if not new:
            break
    for pid in stopped:
        send_signal(pid, signal.SIGKILL)


def kill_stray(own: set[int]) -> None:
    """KILL children of this process that are none of its own, with all below them."""
    here = os.getpid()
    for pid in _list_processes():
        if _read_parent(pid) == here and pid not in own:
            kill_below(pid)
            send_signal(pid, signal.SIGKILL)


def _list_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read_parent(pid: int) -> int:
    """The parent of a process; -1 if it is gone."""
    try:
        # The program's name stands in parentheses and may hold anything.
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1
