"""The one keeper of a folder's seals: commands that run at the same time share what was there."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from amplifier_hooks.sandbox.seal.copy import (
    ABSENT,
    Copy,
    Parts,
    Tree,
    build_tree,
    find_changes,
    graft,
)
from amplifier_hooks.sandbox.seal.journal import SealJournal, open_journal
from amplifier_hooks.sandbox.seal.reading import take_copy
from amplifier_hooks.sandbox.seal.repair import make_writable, put_back

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
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
                self._take(self._folder, places)
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
        self._places, self._tree, self._before = frozenset(), {}, ABSENT
        if self.journal is None:
            return ()
        alone = self.journal.begin()
        if not alone:
            self._adopt(*self.journal.load())
        elif self.journal.was_left_open():
            tree, before = self.journal.load()
            return tuple(find_changes(before, take_copy(folder, tree), tree))
        return ()

    def _adopt(self, tree: Tree, before: Copy) -> None:
        self._places, self._tree, self._before = _list_covered(tree), tree, before

    def _take(self, folder: int, places: frozenset[Parts]) -> None:
        """Add places. What is known of the others stays: they may be changed already."""
        if places <= self._places:
            return
        known, before = self._places, self._before
        self._tree, self._places = _plant(known | places)
        self._before = take_copy(folder, self._tree, self._last)
        for parts in known & self._places:
            self._before = graft(self._before, before, parts)

    def _share(self) -> None:
        if self.journal is not None:
            self.journal.store(self._tree, self._before)
            if self._running == 0:
                self.journal.share()

    def _repair(self, folder: int, grants: Sequence[Parts]) -> Repair:
        self._follow_journal()
        now = take_copy(folder, self._tree, self._before)
        expected = self._before
        for grant in self._grants:
            expected = graft(expected, now, grant)
        repair = self._put_back(folder, expected, now)
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

    def _put_back(self, folder: int, expected: Copy, now: Copy) -> Repair:
        first = changes = find_changes(expected, now, self._tree)
        for _ in range(_ATTEMPTS):  # against a command that still runs and does it again
            if not changes:
                return Repair(tuple(first))
            make_writable(folder)
            for parts in changes:
                _try_to_put_back(folder, expected, parts)
            changes = find_changes(expected, take_copy(folder, self._tree), self._tree)
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
        put_back(folder, before, parts)
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
