"""The one keeper of a folder's seals: commands that run at the same time share what was there.

Its journal is on disk. Two programs that work in one folder share it, so that neither takes for
granted what a command of the other has just changed; and when one is killed while its command runs,
the next one finds what was there before. What is put back goes through descriptors.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.sandbox.seal_copies import (
    ABSENT,
    Copy,
    Parts,
    SealError,
    Tree,
    build_tree,
    copy_place,
    copy_tree,
    find_changes,
    graft,
    is_changed,
)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def restore_place(folder: int, before: Copy, parts: Parts) -> None:
    """Make one place below an open folder what it was; OSError if that cannot be."""
    with contextlib.ExitStack() as stack:
        for part in parts[:-1]:
            before = before.entries.get(part, ABSENT)
            below = _enter(folder, part, make=before.kind == "way")
            if below is None:
                return
            stack.callback(os.close, below)
            folder = below
        _write(folder, parts[-1], before.entries.get(parts[-1], ABSENT))


def make_writable(folder: int) -> None:
    """Undo a mode that would keep the owner from putting things back."""
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    if mode & 0o700 != 0o700:
        os.fchmod(folder, mode | 0o700)


def _enter(folder: int, name: str, *, make: bool) -> int | None:
    """A descriptor of a folder on the way; None if there is none and none is wanted."""
    try:
        below = _open_folder(folder, name)
    except FileNotFoundError:
        if not make:
            return None
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, _FOLDER, dir_fd=folder)
    make_writable(below)
    return below


def _open_folder(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:  # closed to its owner
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            # A descriptor of this kind has no fchmod.
            Path(f"/proc/self/fd/{handle}").chmod(0o700)
        finally:
            os.close(handle)
        return os.open(name, _FOLDER, dir_fd=folder)


def _write(folder: int, name: str, copy: Copy) -> None:
    if copy.kind in ("large", "other"):
        raise SealError(errno.EIO, f"{name!r} is too large or too odd to be put back")
    if copy.kind in ("folder", "way"):
        _write_folder(folder, name, copy)
    elif copy.kind == "file":
        if _is_folder(folder, name):
            _remove(folder, name)
        replace_file(name, copy.data, mode=copy.mode, owner=copy.owner, sync=False, dir_fd=folder)
    else:
        _remove(folder, name)
        if copy.kind == "link":
            os.symlink(os.fsdecode(copy.data), name, dir_fd=folder)


def _write_folder(folder: int, name: str, copy: Copy) -> None:
    inner = _open_or_make(folder, name)
    try:
        if copy.kind == "folder":
            make_writable(inner)
            with os.scandir(inner) as entries:
                extra = {entry.name for entry in entries} - copy.entries.keys()
            for one in extra:
                _remove(inner, one)
        for one, entry in copy.entries.items():
            if is_changed(entry, copy_place(inner, one)):
                _write(inner, one, entry)
        if copy.kind == "folder":
            _dress(inner, copy)
    finally:
        os.close(inner)


def _open_or_make(folder: int, name: str) -> int:
    try:
        return _open_folder(folder, name)
    except OSError:  # gone, or a link or a file now
        _remove(folder, name)
        os.mkdir(name, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def _dress(folder: int, copy: Copy) -> None:
    with contextlib.suppress(PermissionError):  # only the superuser gives folders away
        os.fchown(folder, *copy.owner)
    os.fchmod(folder, copy.mode)


def _is_folder(folder: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _remove(folder: int, name: str) -> None:
    """Take away whatever has a name: at once, however much there is to delete."""
    aside = f".amplifier-removed-{secrets.token_hex(8)}"
    try:
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return
    if _is_folder(folder, aside):
        shutil.rmtree(aside, ignore_errors=True, dir_fd=folder)
    else:
        os.unlink(aside, dir_fd=folder)


_OPEN = b"1"
_CLOSED = b"0"


class SealJournal:
    """The journal of one folder. All methods are called by one thread at a time."""

    def __init__(self, root: Path, home: Path | None = None) -> None:
        folder = _find_folder() if home is None else home
        name = _name_root(root)
        self._content = folder / f"{name}.json"
        self._lock = _open_lock(folder / f"{name}.lock")
        self._known: tuple[Tree, Copy, tuple[int, ...]] | None = None

    def begin(self) -> bool:
        """Join those who have commands running; whether there are no others."""
        alone = self._try_lock()
        if not alone:
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        return alone

    def share(self) -> None:
        """After `begin` and `store`: let others join."""
        os.pwrite(self._lock, _OPEN, 0)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def end(self) -> None:
        """Leave; the last one closes the journal."""
        if self._try_lock():
            os.pwrite(self._lock, _CLOSED, 0)
        fcntl.flock(self._lock, fcntl.LOCK_UN)

    def was_left_open(self) -> bool:
        """Whether the one who was last alone here died while a command ran."""
        return os.pread(self._lock, 1, 0) == _OPEN

    def load(self) -> tuple[Tree, Copy]:
        """What was stored last, by whomever; nothing if that cannot be read."""
        stamp = self._get_stamp()
        if self._known is None or self._known[2] != stamp:
            self._known = (*self._read(), stamp)
        return self._known[0], self._known[1]

    def store(self, tree: Tree, copy: Copy) -> None:
        """Keep this, unless it is what is there already."""
        if self.load() == (tree, copy):
            self._known = (tree, copy, self._get_stamp())
            return
        text = json.dumps({"tree": tree, "copy": _to_plain(copy)})
        replace_file(self._content, text.encode(), mode=0o600, sync=False)
        self._known = (tree, copy, self._get_stamp())

    def _read(self) -> tuple[Tree, Copy]:
        try:
            given = json.loads(self._content.read_bytes())
            return given["tree"], _from_plain(given["copy"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}, ABSENT

    def _get_stamp(self) -> tuple[int, ...]:
        try:
            info = self._content.stat()
        except FileNotFoundError:
            return ()
        return info.st_ino, info.st_mtime_ns, info.st_size

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _find_folder() -> Path:
    return find_data_home() / "amplifier" / "seals"


def _open_lock(path: Path) -> int:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileNotFoundError):  # somebody has just removed an empty folder
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def forget_journal(root: Path) -> None:
    """Remove the journal of a folder that is gone for good, and what is empty without it."""
    folder = _find_folder()
    for path in folder.glob(f"{_name_root(root)}.*"):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
        folder.parent.rmdir()


def _name_root(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:32]


def open_journal(root: Path) -> SealJournal | None:
    """The journal of a folder; None where our data cannot be written."""
    try:
        return SealJournal(root)
    except OSError:
        return None


def _to_plain(copy: Copy) -> dict[str, Any]:
    return dict(_iterate_fields(copy))


def _iterate_fields(copy: Copy) -> Iterator[tuple[str, Any]]:
    yield "kind", copy.kind
    yield "mode", copy.mode
    yield "owner", copy.owner
    yield "links", copy.links
    yield "data", base64.b64encode(copy.data).decode()
    yield "entries", {name: _to_plain(entry) for name, entry in copy.entries.items()}


def _from_plain(given: dict[str, Any]) -> Copy:
    return Copy(
        kind=given["kind"],
        mode=given["mode"],
        owner=(given["owner"][0], given["owner"][1]),
        links=given["links"],
        data=base64.b64decode(given["data"]),
        entries={name: _from_plain(entry) for name, entry in given["entries"].items()},
    )


_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Repair:
    """What was put back, and what was changed and could not be."""

    restored: tuple[Parts, ...] = ()
    lost: tuple[Parts, ...] = ()


@dataclass(slots=True)
class SealKeeper:
    """Holds the copy while any command runs; `begin` and `end` stand around each of them.

    The folder stays open meanwhile: what is put back goes there, even if something else has taken
    its name.
    """

    root: Path
    journal: SealJournal | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _places: frozenset[Parts] = frozenset()
    _tree: Tree = field(default_factory=dict)
    _before: Copy = ABSENT
    _last: Copy = ABSENT
    _running: int = 0
    _folder: int = -1
    _grants: list[Parts] = field(default_factory=list)

    def begin(self, places: frozenset[Parts], grants: Sequence[Parts]) -> tuple[Parts, ...]:
        """Take a copy, or share the one there is.

        Returned are places that changed while a command ran whose program was killed.
        """
        with self._lock:
            if self._running == 0:
                self._folder = os.open(self.root, _FOLDER)
            try:
                changed = self._join(self._folder) if self._running == 0 else ()
                self._add_places(self._folder, places)
                self._share()
            except BaseException:
                self._leave()
                raise
            self._running += 1
            self._grants += grants
        return changed

    def end(self, grants: Sequence[Parts]) -> Repair:
        """Put back what was changed and not granted; what was granted stays."""
        with self._lock:
            self._running -= 1
            try:
                return self._repair(self._folder, grants)
            finally:
                for grant in grants:
                    self._grants.remove(grant)
                self._leave()

    def _leave(self) -> None:
        if self._running == 0:
            os.close(self._folder)
            if self.journal is not None:
                self.journal.end()

    def _join(self, folder: int) -> tuple[Parts, ...]:
        self._places = frozenset()
        self._tree = {}
        self._before = ABSENT
        if self.journal is None:
            return ()
        alone = self.journal.begin()
        if not alone:
            self._adopt(*self.journal.load())
        elif self.journal.was_left_open():
            tree, before = self.journal.load()
            return tuple(find_changes(before, copy_tree(folder, tree), tree))
        return ()

    def _adopt(self, tree: Tree, before: Copy) -> None:
        self._places = _list_covered(tree)
        self._tree = tree
        self._before = before

    def _add_places(self, folder: int, places: frozenset[Parts]) -> None:
        """Add places. What is known of the others stays: they may be changed already."""
        if places <= self._places:
            return
        known = self._places
        before = self._before
        self._tree, self._places = _plant(known | places)
        self._before = copy_tree(folder, self._tree, self._last)
        for parts in known & self._places:
            self._before = graft(self._before, before, parts)

    def _share(self) -> None:
        if self.journal is not None:
            self.journal.store(self._tree, self._before)
            if self._running == 0:
                self.journal.share()

    def _repair(self, folder: int, grants: Sequence[Parts]) -> Repair:
        self._follow_journal()
        now = copy_tree(folder, self._tree, self._before)
        expected = self._before
        for grant in self._grants:
            expected = graft(expected, now, grant)
        repair = self._restore_place(folder, expected, now)
        if not _is_at(folder, self.root):
            repair = Repair(repair.restored, (*repair.lost, ()))
        self._last = now
        for grant in grants:
            self._before = graft(self._before, now, grant)
        if grants and self.journal is not None:
            self.journal.store(self._tree, self._before)
        return repair

    def _follow_journal(self) -> None:
        """Another program may have been granted something meanwhile, or knows more places."""
        if self.journal is None:
            return
        tree, before = self.journal.load()
        if before is not self._before and self._places <= _list_covered(tree):
            self._adopt(tree, before)

    def _restore_place(self, folder: int, expected: Copy, now: Copy) -> Repair:
        first = changes = find_changes(expected, now, self._tree)
        for _ in range(_ATTEMPTS):  # against a command that still runs and does it again
            if not changes:
                return Repair(tuple(first))
            make_writable(folder)
            for parts in changes:
                _try_to_put_back(folder, expected, parts)
            changes = find_changes(expected, copy_tree(folder, self._tree), self._tree)
        return Repair(tuple(one for one in first if one not in changes), tuple(changes))


_keepers: dict[Path, SealKeeper] = {}
_keepers_lock = threading.Lock()


def get_keeper(root: Path) -> SealKeeper:
    """The keeper of a folder; there is one in each process."""
    with _keepers_lock:
        if root not in _keepers:
            _keepers[root] = SealKeeper(root, open_journal(root))
        return _keepers[root]


@lru_cache(maxsize=64)
def _plant(places: frozenset[Parts]) -> tuple[Tree, frozenset[Parts]]:
    """The tree of the places, and those that are left when what lies in another is part of it."""
    tree = build_tree(places)
    return tree, _list_covered(tree)


def _try_to_put_back(folder: int, before: Copy, parts: Parts) -> None:
    try:
        restore_place(folder, before, parts)
    except OSError:
        return  # the next look finds it changed still


def _is_at(folder: int, path: Path) -> bool:
    """Whether the folder is still where it was, and nothing else in its place."""
    try:
        return os.path.samestat(os.fstat(folder), path.lstat())
    except OSError:
        return False


def _list_covered(tree: Tree) -> frozenset[Parts]:
    return frozenset(_list_leaves(tree))


def _list_leaves(tree: Tree, at: Parts = ()) -> Iterator[Parts]:
    for name, below in tree.items():
        if below:
            yield from _list_leaves(below, (*at, name))
        else:
            yield (*at, name)
