"""Copies of the sealed places of a folder, as values that can be compared.

Copies are taken through descriptors and without following a link. A file is known to be unchanged
without being read by its stamp: the kernel sets the time of the last change (ctime) by itself, and
nobody but the superuser can set it back. Two doubts remain. Some file systems keep it badly: memory
file systems do not touch it when a mapped page is written, remote ones may remember an old one. And
two changes within one tick of the clock have one time. So there are stamps only on file systems
known to be honest, and only of files that have been left alone for a while.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

Parts = tuple[str, ...]
Tree = dict[str, "Tree"]
"""The sealed places below a folder; a name without entries is sealed with all below it."""


class SealError(OSError):
    """A sealed place cannot be watched, or was changed and cannot be put back."""


@dataclass(frozen=True, slots=True)
class Copy:
    """What stands at one place. Only the sealed entries of a folder on the `way` are in it.

    Of what is too `large` to keep there is only a digest, which tells that it changed. `links` is
    left out of comparisons: a second name that goes away changes nothing. So is `stamp`, by which
    a file is known again without being read.
    """

    kind: Literal["absent", "file", "link", "folder", "way", "large", "other"]
    mode: int = 0
    owner: tuple[int, int] = (0, 0)
    data: bytes = b""
    entries: Mapping[str, Copy] = field(default_factory=dict)
    links: int = field(default=1, compare=False)
    stamp: tuple[int, ...] = field(default=(), compare=False)


ABSENT = Copy("absent")


def build_tree(places: Iterable[Parts]) -> Tree:
    """The places as a tree; what lies below another place is part of that one."""
    tree: Tree = {}
    for parts in sorted(places, key=len, reverse=True):
        here = tree
        for part in parts[:-1]:
            here = here.setdefault(part, {})
        here[parts[-1]] = {}
    return tree


def find_changes(before: Copy, now: Copy, tree: Tree, at: Parts = ()) -> list[Parts]:
    """The places at which something else stands now."""
    found: list[Parts] = []
    for name in before.entries.keys() | now.entries.keys():
        old = before.entries.get(name, ABSENT)
        new = now.entries.get(name, ABSENT)
        if tree[name] and {old.kind, new.kind} <= {"way", "absent"}:
            found += find_changes(old, new, tree[name], (*at, name))
        elif is_changed(old, new):
            found.append((*at, name))
    return sorted(found)


def is_changed(old: Copy, new: Copy) -> bool:
    """Whether it differs, or a file got a second name, by which it could be changed later."""
    return old != new or _has_new_link(old, new)


def graft(before: Copy, now: Copy, parts: Parts) -> Copy:
    """`before`, but at one path what stands there now."""
    if not parts or not {before.kind, now.kind} <= {"absent", "way", "folder"}:
        return now
    name = parts[0]
    rest = parts[1:]
    inner = graft(before.entries.get(name, ABSENT), now.entries.get(name, ABSENT), rest)
    entries = {key: copy for key, copy in before.entries.items() if key != name}
    if inner.kind != "absent":
        entries[name] = inner
    shape = now if before.kind == "absent" else before
    if shape.kind != "folder" and not entries:
        return ABSENT
    return replace(shape, entries=entries)


def _has_new_link(old: Copy, new: Copy) -> bool:
    if old.kind == "file":
        return new.links > old.links
    return any(_has_new_link(copy, new.entries[name]) for name, copy in old.entries.items())


Stamp = tuple[int, ...]

SETTLED = 100_000_000
"""Nanoseconds: many times the longest tick of any clock."""

_HONEST = frozenset({"ext2", "ext3", "ext4", "xfs", "f2fs"})
_MOUNTS = Path("/proc/self/mountinfo")


def make_stamp(info: os.stat_result) -> Stamp:
    """The stamp of a file; empty if it could be changed and keep it."""
    if not keeps_times(info.st_dev) or info.st_ctime_ns > time.time_ns() - SETTLED:
        return ()
    return list_marks(info)


def list_marks(info: os.stat_result) -> Stamp:
    """All that changes with a file, whether or not it can be relied on."""
    return (
        info.st_dev,
        info.st_ino,
        info.st_mode,
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
    )


@lru_cache(maxsize=64)
def keeps_times(device: int) -> bool:
    """Whether the file system on a device notes every change of a file."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {
        after.split()[0]
        for before, _, after in (line.partition(" - ") for line in mounts.splitlines())
        if number in before.split()[:3] and after
    }
    return bool(kinds) and kinds <= _HONEST


MOST_FILES = 500
MOST_BYTES = 2_000_000
MOST_STAMPS = 20_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OBSTACLES = {errno.ENOTDIR, errno.ELOOP, errno.EACCES}


def copy_tree(folder: int, tree: Tree, known: Copy = ABSENT) -> Copy:
    """What stands at the places of a tree below an open folder.

    A file with the stamp that it has in `known` is taken from there.
    """
    entries: dict[str, Copy] = {}
    for name, below in tree.items():
        # Most places do not exist, and this is the cheapest way to learn it.
        if os.access(name, os.F_OK, dir_fd=folder, follow_symlinks=False):
            copy = _copy(folder, name, below, known.entries.get(name, ABSENT))
            if copy.kind != "absent":
                entries[name] = copy
    # A folder with nothing sealed in it is as good as none: a command may make or remove it.
    return Copy("way", entries=entries) if entries else ABSENT


def copy_place(folder: int, name: str, known: Copy = ABSENT) -> Copy:
    """What has this name in an open folder, with all below it."""
    try:
        return _Taker().take(folder, name, known)
    except FileNotFoundError:
        return ABSENT
    except _TooLarge:
        return Copy("large", data=_digest_stamps(folder, name))


def _copy(folder: int, name: str, below: Tree, known: Copy) -> Copy:
    if not below:
        return copy_place(folder, name, known)
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        return ABSENT
    except OSError as failure:
        if failure.errno not in _OBSTACLES:
            raise SealError(failure.errno, f"{name!r} cannot be looked into") from failure
        return copy_place(folder, name)
    try:
        return copy_tree(inner, below, known)
    finally:
        os.close(inner)


class _Taker:
    """Takes one place, within limits."""

    def __init__(self) -> None:
        self.files = MOST_FILES
        self.room = MOST_BYTES

    def take(self, folder: int, name: str, known: Copy) -> Copy:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        self.files -= 1
        if self.files < 0:
            raise _TooLarge
        try:
            return self._fill(folder, name, info, known)
        except PermissionError:  # it can be compared, not put back
            return Copy("other", info.st_mode, (info.st_uid, info.st_gid))

    def _fill(self, folder: int, name: str, info: os.stat_result, known: Copy) -> Copy:
        mode = stat.S_IMODE(info.st_mode)
        owner = (info.st_uid, info.st_gid)
        if stat.S_ISREG(info.st_mode):
            stamp = make_stamp(info)
            data = known.data if stamp and known.stamp == stamp else self._read(folder, name)
            return Copy("file", mode, owner, data, links=info.st_nlink, stamp=stamp)
        if stat.S_ISDIR(info.st_mode):
            return Copy("folder", mode, owner, entries=self._list(folder, name, known))
        if stat.S_ISLNK(info.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            return Copy("link", mode, owner, target)
        return Copy("other", info.st_mode, owner)

    def _read(self, folder: int, name: str) -> bytes:
        descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            data = os.read(descriptor, self.room + 1)
            while len(data) <= self.room and (more := os.read(descriptor, self.room + 1)):
                data += more
        finally:
            os.close(descriptor)
        self.room -= len(data)
        if self.room < 0:
            raise _TooLarge
        return data

    def _list(self, folder: int, name: str, known: Copy) -> dict[str, Copy]:
        inner = os.open(name, _FOLDER, dir_fd=folder)
        try:
            with os.scandir(inner) as entries:
                names = sorted(entry.name for entry in entries)
            if len(names) > self.files:
                raise _TooLarge
            return {one: self.take(inner, one, known.entries.get(one, ABSENT)) for one in names}
        finally:
            os.close(inner)


class _TooLarge(Exception):
    pass


def _digest_stamps(folder: int, name: str) -> bytes:
    """A digest of when everything below a place was changed."""
    top = os.stat(name, dir_fd=folder, follow_symlinks=False)
    digest = hashlib.sha256(repr(list_marks(top)).encode())
    if not stat.S_ISDIR(top.st_mode):
        return digest.digest()
    left = MOST_STAMPS
    for at, folders, files, inner in os.fwalk(name, dir_fd=folder, follow_symlinks=False):
        folders.sort()
        for one in sorted([*folders, *files]):
            left -= 1
            if left < 0:
                message = f"{name!r} holds over {MOST_STAMPS:,} files, too many to watch"
                raise SealError(errno.EFBIG, message)
            info = os.stat(one, dir_fd=inner, follow_symlinks=False)
            digest.update(repr((at, one, list_marks(info))).encode())
    return digest.digest()
