"""The files below a place: links are not followed, and there is an end to it."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.roots import Place, open_directory, open_parent
from amplifier_hooks.guards.policy.place_names import fold_name

MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """A file met on the way; `parent` is a descriptor that is valid until the next step."""

    path: str
    name: str
    parent: int


@dataclass(slots=True)
class Walk:
    """One pass; `unfinished` says afterwards why it stopped early, if it did."""

    place: Place
    skip: Sequence[str]
    max_entries: int
    seconds: float
    stop: threading.Event = field(default_factory=threading.Event)
    unfinished: str | None = None

    def __iter__(self) -> Iterator[Entry]:
        try:
            yield from self._walk_tree() if _is_directory(self.place) else self._yield_single()
        except FileNotFoundError as missing:
            raise Refused(f"No file or directory {self.place.asked!r}") from missing

    def _yield_single(self) -> Iterator[Entry]:
        with open_parent(self.place) as (parent, name):
            yield Entry("", name, parent)

    def _walk_tree(self) -> Iterator[Entry]:
        deadline = time.monotonic() + self.seconds
        left = self.max_entries
        with open_directory(self.place) as top:
            for root, directories, files, parent in os.fwalk(".", dir_fd=top):
                prefix = root[2:] + "/" if len(root) > 1 else ""
                if self._is_guarded(parent):
                    directories.clear()
                    continue
                self._prune(directories, prefix)
                for name in self._choose_visible(prefix, files):
                    left -= 1
                    self.unfinished = self._explain_stop(left, deadline)
                    if self.unfinished:
                        return
                    yield Entry(prefix + name, name, parent)

    def _prune(self, directories: list[str], prefix: str) -> None:
        """Tell the walk where to go next, by changing its own list."""
        chosen = [name for name in directories if name not in self.skip]
        deep = prefix.count("/") >= MAX_DEPTH
        directories[:] = [] if deep else self._choose_visible(prefix, chosen)

    def _is_guarded(self, directory: int) -> bool:
        """Whether this is a hidden place, under whatever name the walk came to it."""
        guarded = self.place.guarded
        return guarded is not None and guarded.find(os.fstat(directory)) is not None

    def _choose_visible(self, prefix: str, names: Iterable[str]) -> list[str]:
        """Without those that are hidden, such as a key among other files."""
        places, folder = self.place.places, self.place.path / prefix
        suspects = {fold_name(path.name) for path in places.hidden}
        return sorted(
            name
            for name in names
            if fold_name(name) not in suspects or not places.is_hidden(folder / name)
        )

    def _explain_stop(self, left: int, deadline: float) -> str | None:
        if left < 0:
            return f"stopped after {self.max_entries:,} files"
        if self.stop.is_set() or time.monotonic() > deadline:
            return f"stopped after {self.seconds:g} seconds"
        return None


def _is_directory(place: Place) -> bool:
    if not place.parts:
        return True
    with open_parent(place) as (parent, name):
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
