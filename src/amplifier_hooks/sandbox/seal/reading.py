"""Taking copies of sealed places: through descriptors, and without following a link."""

from __future__ import annotations

import errno
import hashlib
import os
import stat

from amplifier_hooks.sandbox.seal.copy import ABSENT, Copy, SealError, Tree
from amplifier_hooks.sandbox.seal.stamp import list_marks, make_stamp

MOST_FILES = 500
MOST_BYTES = 2_000_000
MOST_STAMPS = 20_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OBSTACLES = {errno.ENOTDIR, errno.ELOOP, errno.EACCES}


def take_copy(folder: int, tree: Tree, known: Copy = ABSENT) -> Copy:
    """What stands at the places of a tree below an open folder.

    A file with the stamp that it has in `known` is taken from there.
    """
    entries: dict[str, Copy] = {}
    for name, below in tree.items():
        # Most places do not exist, and this is the cheapest way to learn it.
        if os.access(name, os.F_OK, dir_fd=folder, follow_symlinks=False):
            copy = _take(folder, name, below, known.entries.get(name, ABSENT))
            if copy.kind != "absent":
                entries[name] = copy
    # A folder with nothing sealed in it is as good as none: a command may make or remove it.
    return Copy("way", entries=entries) if entries else ABSENT


def take_place(folder: int, name: str, known: Copy = ABSENT) -> Copy:
    """What has this name in an open folder, with all below it."""
    try:
        return _Taker().take(folder, name, known)
    except FileNotFoundError:
        return ABSENT
    except _TooLarge:
        return Copy("large", data=_digest_stamps(folder, name))


def _take(folder: int, name: str, below: Tree, known: Copy) -> Copy:
    if not below:
        return take_place(folder, name, known)
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        return ABSENT
    except OSError as failure:
        if failure.errno not in _OBSTACLES:
            raise SealError(failure.errno, f"{name!r} cannot be looked into") from failure
        return take_place(folder, name)
    try:
        return take_copy(inner, below, known)
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
        mode, owner = stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid)
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
