"""Calls of the kernel that Python has no name for."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

NO_NEW_PRIVS, SUBREAPER, SECCOMP, AMBIENT, DROP_BOUNDING, DUMPABLE = 38, 36, 22, 47, 24, 4
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_SCOPE_SIGNALS = 2
_SECCOMP_FILTER, _CLEAR_ALL = 2, 4
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
