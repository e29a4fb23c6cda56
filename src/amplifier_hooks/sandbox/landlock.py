"""Landlock: rule sets of the Linux kernel by which a process gives up access to files.

Rules allow hierarchies and add up: a place inside an allowed one cannot be taken out again. So
whatever lies on the way to a hidden place is not allowed as a whole, only its other entries are.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import itertools
import os
import platform
import stat
import struct
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from enum import IntFlag
from functools import lru_cache
from pathlib import Path

from amplifier_hooks.sandbox.wall import Network, Wall

_CREATE, _ADD, _OPENAT2 = 444, 445, 437  # the same on every architecture that we know
_VERSION = 1
_BENEATH = 1
_HERE = -100
_NO_SYMLINKS = 0x04


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
    size = 8
    if abi >= 6:
        size = 24
    elif abi >= 4:
        size = 16
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


DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))
_ALL_DEVICES = Path("/dev")

Allowance = tuple[Path, Access]
Stamp = tuple[object, ...]


def list_allowances(wall: Wall) -> Iterator[Allowance]:
    """Reading everywhere, writing where the wall allows it; never a hidden place."""
    # Of the devices only harmless ones: another terminal of the person is one as well.
    yield from _cover(Path("/"), READ, (*wall.hidden, _ALL_DEVICES))
    for device in DEVICES:
        yield device, DEVICE
    for root in (*wall.writable, wall.temporary):
        yield from _cover(root, _choose_writing(root), wall.hidden)


def make_stamp(wall: Wall) -> Stamp:
    """What changes when `list_allowances` would yield something else."""
    folders, roots = _list_watched(wall.hidden, (*wall.writable, wall.temporary))
    return (roots, *map(_stamp_folder, folders), *map(_identify, roots))


@lru_cache(maxsize=64)
def _list_watched(
    hidden: tuple[Path, ...], roots: tuple[Path, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """As texts, because these are looked at before every command."""
    above = {parent for place in hidden for parent in place.parents}
    return tuple(map(str, sorted(above))), tuple(map(str, roots))


def _choose_writing(root: Path) -> Access:
    return WRITE | Access.IOCTL_DEV if root.is_relative_to(_ALL_DEVICES) else WRITE


def _cover(folder: Path, access: Access, without: Iterable[Path]) -> Iterator[Allowance]:
    """The folder as a whole, or all in it that is not on the way to an excluded place."""
    excluded = tuple(without)
    if any(folder.is_relative_to(place) for place in excluded):
        return
    inner = tuple(place for place in excluded if place.is_relative_to(folder))
    if not inner:
        yield folder, access
        return
    yield folder, Access.READ_DIR
    on_the_way = {place.relative_to(folder).parts[0] for place in inner}
    for name, is_link in _list_entries(folder):
        if name in on_the_way:
            yield from _cover(folder / name, access, inner)
        elif not is_link:
            yield folder / name, access


def _list_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_symlink()) for entry in entries]
    except OSError:
        return []


def _stamp_folder(path: str) -> tuple[int, ...] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino, info.st_mtime_ns, info.st_ctime_ns


def _identify(path: str) -> tuple[int, ...] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino, stat.S_IFMT(info.st_mode)


_MOST = 16

Key = tuple[tuple[Path, ...], Network, Stamp]


class Rulesets:
    """Keeps the last few, each for as long as the folders that it was built from are the same."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[int, int]] = OrderedDict()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lend(self, wall: Wall) -> Iterator[tuple[int, int]]:
        """A descriptor of the wall's rule set, for as long as the context lasts, and its number."""
        descriptor, number = self._copy(wall)
        try:
            yield descriptor, number
        finally:
            os.close(descriptor)

    def _copy(self, wall: Wall) -> tuple[int, int]:
        # Before the folders are read: what appears in between costs another building, no more.
        key = (wall.hidden, wall.network, make_stamp(wall))
        with self._lock:
            if key not in self._kept:
                rules = list_allowances(wall)
                built = build_ruleset(rules, query_abi(), tcp=wall.network == "allow")
                self._kept[key] = built, next(self._numbers)
            self._kept.move_to_end(key)
            if len(self._kept) > _MOST:
                os.close(self._kept.popitem(last=False)[1][0])
            descriptor, number = self._kept[key]
            return os.dup(descriptor), number


RULESETS = Rulesets()
