"""System calls of the launcher for which Python has no name; ending processes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
from pathlib import Path
from typing import Any

NO_NEW_PRIVS = 38
SUBREAPER = 36
SECCOMP = 22
AMBIENT = 47
DROP_BOUNDING = 24
DUMPABLE = 4
_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_SCOPE_SIGNALS = 2
_SECCOMP_FILTER = 2
_CLEAR_ALL = 4
_CAPABILITY_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def set_option(option: int, value: int, pointer: bytes | None = None) -> None:
    """Call prctl."""
    _call(_libc.prctl, option, value, 0 if pointer is None else pointer, 0, 0)


def restrict_self(ruleset: int) -> None:
    """Enter a Landlock domain with this thread, for good."""
    _call(_libc.syscall, _RESTRICT_SELF, ruleset, 0)


def enter_scope() -> bool:
    """Give up the right to signal anything but descendants; says whether the kernel can do that.

    Then `kill(-1)` means: every process of this cell, in one step that no fork escapes.
    """
    try:
        rules = struct.pack("QQQ", 0, 0, _SCOPE_SIGNALS)
        ruleset = _call(_libc.syscall, _CREATE_RULESET, rules, len(rules), 0)
    except OSError:
        return False
    try:
        set_option(NO_NEW_PRIVS, 1)
        restrict_self(ruleset)
    finally:
        os.close(ruleset)
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        return True
    return False


def drop_capabilities(kept: int) -> None:
    """Keep only some of root's powers; nothing to do for anybody else."""
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    words = ctypes.create_string_buffer(24)
    _call(_libc.capget, header, words)
    sets = struct.unpack("6I", words.raw)
    if not any(sets):
        return
    for capability in range(64):
        if not kept >> capability & 1 and not _drop_from_bounds(capability):
            break
    set_option(AMBIENT, _CLEAR_ALL)
    masks = (kept & 0xFFFFFFFF,) * 3 + (kept >> 32,) * 3
    reduced = [one & mask for one, mask in zip(sets, masks, strict=True)]
    _call(_libc.capset, header, struct.pack("6I", *reduced))


def apply_filter(program: bytes) -> None:
    """Have the kernel refuse system calls of this thread."""
    code = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    set_option(SECCOMP, _SECCOMP_FILTER, head)


def _drop_from_bounds(capability: int) -> bool:
    try:
        set_option(DROP_BOUNDING, capability)
    except OSError:  # past the last one that the kernel knows
        return False
    return True


def _call(function: Any, *arguments: Any) -> int:
    words = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    result: int = function(*words)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


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
