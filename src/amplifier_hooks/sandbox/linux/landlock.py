"""Landlock: rule sets of the Linux kernel by which a process gives up access to files."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterable
from enum import IntFlag
from pathlib import Path

_CREATE, _ADD, _OPENAT2 = 444, 445, 437  # the same on every architecture that we know
_VERSION = 1
_BENEATH = 1
_HERE = -100
_NO_SYMLINKS = 0x04
NEWEST_ABI = 7
"""The last version of the interface that brought something we know of."""


class Access(IntFlag):
    """Rights below a path."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


_OF_FILES = (
    Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEV
)
READ = Access.EXECUTE | Access.READ_FILE | Access.READ_DIR
# Never MAKE_CHAR and MAKE_BLOCK: a device of root's making is a way to every disk.
WRITE = (
    READ
    | Access.WRITE_FILE
    | Access.REMOVE_DIR
    | Access.REMOVE_FILE
    | Access.MAKE_DIR
    | Access.MAKE_REG
    | Access.MAKE_SOCK
    | Access.MAKE_FIFO
    | Access.MAKE_SYM
    | Access.REFER
    | Access.TRUNCATE
)
DEVICE = Access.READ_FILE | Access.WRITE_FILE | Access.TRUNCATE | Access.IOCTL_DEV

_BITS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP = 0b11  # bind and connect, from ABI 4
_SCOPES = 0b11  # abstract sockets and signals, from ABI 6


@functools.cache
def query_abi() -> int:
    """The version of Landlock that this kernel offers; 0 where there is none."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return 0
    try:
        return _call(_CREATE, None, 0, _VERSION)
    except OSError:
        return 0


def build_ruleset(rules: Iterable[tuple[Path, Access]], abi: int, *, tcp: bool) -> int:
    """A descriptor of the rule set; what no rule allows is refused, TCP too unless wanted.

    A path that is not there, or has a symbolic link in it, gets no rule.
    """
    known = get_known_access(abi)
    scoped = _SCOPES if abi >= 6 else 0
    net = _TCP if abi >= 4 and not tcp else 0
    # A kernel that does not know the later fields refuses the longer form, even with zeros in it.
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = struct.pack("QQQ", known, net, scoped)[:size]
    ruleset = _call(_CREATE, attributes, size, 0)
    try:
        for path, access in rules:
            _allow(ruleset, path, access & known)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def get_known_access(abi: int) -> Access:
    """The rights that a kernel of this version can take away."""
    return Access((1 << _BITS_OF_ABI[min(abi, 5)]) - 1)


def _allow(ruleset: int, path: Path, access: Access) -> None:
    try:
        place = _open_exactly(path)
    except OSError as failure:
        if failure.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EACCES):
            return
        raise
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _OF_FILES
        if access:
            _call(_ADD, ruleset, _BENEATH, struct.pack("=Qi", access, place), 0)
    finally:
        os.close(place)


def _open_exactly(path: Path) -> int:
    """A descriptor of this very path: a link that was put into it would lead to other places."""
    how = struct.pack("QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_SYMLINKS)
    return _call(_OPENAT2, _HERE, os.fsencode(path), how, len(how))


_libc = ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
