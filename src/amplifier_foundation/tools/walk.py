"""The files below a place: links are not followed, and there is an end to it."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from amplifier_foundation.tools.base import Refused
from amplifier_foundation.tools.roots import Place, opened_directory, opened_parent

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
            yield from self._tree() if _is_directory(self.place) else self._single()
        except FileNotFoundError as missing:
            raise Refused(f"No file or directory {self.place.asked!r}") from missing

    def _single(self) -> Iterator[Entry]:
        with opened_parent(self.place) as (parent, name):
            yield Entry("", name, parent)

    def _tree(self) -> Iterator[Entry]:
        deadline = time.monotonic() + self.seconds
        left = self.max_entries
        with opened_directory(self.place) as top:
            for root, directories, files, parent in os.fwalk(".", dir_fd=top):
                prefix = root[2:] + "/" if len(root) > 1 else ""
                self._choose(directories, prefix.count("/"))
                for name in sorted(files):
                    left -= 1
                    self.unfinished = self._why_stop(left, deadline)
                    if self.unfinished:
                        return
                    yield Entry(prefix + name, name, parent)

    def _choose(self, directories: list[str], depth: int) -> None:
        chosen = sorted(name for name in directories if name not in self.skip)
        directories[:] = chosen if depth < MAX_DEPTH else []

    def _why_stop(self, left: int, deadline: float) -> str | None:
        if left < 0:
            return f"stopped after {self.max_entries:,} files"
        if self.stop.is_set() or time.monotonic() > deadline:
            return f"stopped after {self.seconds:g} seconds"
        return None


def _is_directory(place: Place) -> bool:
    if not place.parts:
        return True
    with opened_parent(place) as (parent, name):
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
