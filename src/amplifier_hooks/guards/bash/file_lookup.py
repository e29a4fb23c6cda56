"""Looking up the files that a command would write: the places, and the matches."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from glob import iglob
from itertools import islice
from pathlib import Path

from amplifier_hooks.guards.bash.commands import Command, find_values
from amplifier_hooks.guards.bash.words import Word

Wanted = Callable[[str], bool]
"""Whether a file of this relative path can be of interest."""

MOST_FILES = 2_000
"""Of a folder, or of a glob."""


@dataclass(frozen=True, slots=True)
class Write:
    """A file that comes to be at a path; a link there may lead into any folder."""

    path: Path
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class Lookup:
    """The writes that were found, and why there may be more."""

    writes: frozenset[Write] = field(default_factory=frozenset)
    doubts: frozenset[str] = field(default_factory=frozenset)

    def join(self, other: Lookup) -> Lookup:
        """Both as one."""
        if other == NOTHING:
            return self
        return Lookup(self.writes | other.writes, self.doubts | other.doubts)


NOTHING = Lookup()


@dataclass(frozen=True, slots=True)
class Search:
    """One command in one folder that it may run in, and until when to look."""

    command: Command
    base: Path
    home: Path
    wanted: Wanted
    deadline: float
    script: Sequence[Command] = ()

    def get_seconds(self) -> float:
        """How long there is to look."""
        return max(self.deadline - time.monotonic(), 0.0)

    def find_paths(self, word: Word) -> list[Path]:
        """The paths that a word names, also through a glob."""
        if word.value is None:
            return []
        text = word.value
        if word.tilde and (text == "~" or text.startswith("~/")):
            text = f"{self.home}{text[1:]}"
        if "\0" in text or not text:
            return []
        if not word.glob:
            return [self.base / text]
        found = islice(iglob(text, root_dir=self.base), MOST_FILES)  # noqa: PTH207
        return [self.base / one for one in found]

    def find_all(self, words: Iterable[Word]) -> list[Path]:
        """The same for several words."""
        return [path for word in words for path in self.find_paths(word)]

    def list_values(self, *options: tuple[str, str]) -> list[Word]:
        """What options of the command have as values, each given as its letter and its name."""
        words = self.command.words
        return [word for short, long in options for word in find_values(words, short, long)]

    def list_inputs(self) -> list[Word]:
        """The files that standard input is redirected from."""
        return [one.target for one in self.command.redirects if one.operator == "<"]

    def collect(self, writes: Iterable[Write]) -> Lookup:
        """Those of interest. A new file in another folder is a copy, and changes nothing here."""
        kept = (Write(Path(os.path.normpath(one.path)), one.is_link) for one in writes)
        return Lookup(frozenset(one for one in kept if self._matters(one)))

    def _matters(self, write: Write) -> bool:
        if not write.path.is_relative_to(self.base) and not os.path.lexists(write.path):
            return False
        return write.is_link or self.wanted(str(write.path))


def is_regular(path: Path) -> bool:
    """Whether it is a file, and neither a pipe nor a device that would keep its reader waiting."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def list_below(folder: Path) -> Iterator[tuple[str, bool]]:
    """The relative paths of the files and links in a folder, and whether each is a link."""
    left = MOST_FILES
    for top, folders, files in os.walk(folder):
        inner = os.path.relpath(top, folder)
        linked = [name for name in folders if os.path.islink(os.path.join(top, name))]  # noqa: PTH114, PTH118
        for name in (*files, *linked):
            left -= 1
            if left < 0:
                return
            is_link = os.path.islink(os.path.join(top, name))  # noqa: PTH114, PTH118
            yield os.path.normpath(f"{inner}/{name}"), is_link
