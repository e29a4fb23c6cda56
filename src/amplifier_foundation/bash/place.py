"""What a path of a command would hit: the project, something beside it, or the system itself."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from amplifier_foundation.bash.word import Word, words
from amplifier_foundation.policy.paths import resolve

_ROOTS = tuple(
    Path(name)
    for name in words(
        "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /opt /proc /root /sbin /srv /sys "
        "/usr /var /System /Library /Applications /private/etc /private/var"
    )
)
_WHOLE = tuple(
    Path(name) for name in words("/ /home /Users /mnt /media /Volumes /tmp /var/tmp /private")
)
_NEVER_A_PROJECT = tuple(
    Path(name) for name in words("/bin /boot /dev /etc /lib /lib32 /lib64 /proc /sbin /sys")
)
_TEMPORARY = tuple(Path(name) for name in ["/tmp", "/var/tmp", "/var/folders", "/dev/shm"])
_MOST_DIRECTORIES = 16
_EVERYTHING = frozenset({"*", ".*", "**", "*.*", ".[!.]*", "?*"})


class Reach(IntEnum):
    """How much is at stake; more is worse."""

    INSIDE = 0
    """Below the working directory, or a temporary file."""
    OUTSIDE = 1
    """Somewhere else."""
    PROJECT = 2
    """The working directory as a whole."""
    UNKNOWN = 3
    """Only running the command would tell."""
    SYSTEM = 4
    """The system, a home directory, or something that holds the working directory."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs."""

    working_dir: Path
    home: Path

    def reach(self, word: Word, bases: tuple[Word, ...] = ()) -> Reach:
        """The worst that the word can name, seen from each directory the script goes to."""
        if word.value is None:
            return Reach.UNKNOWN
        if len(bases) > _MOST_DIRECTORIES:
            return Reach.UNKNOWN
        directories = [self._directory(base) for base in bases]
        if any(directory is None for directory in directories) and not _absolute(word):
            return Reach.UNKNOWN
        starts = [self.working_dir, *(found for found in directories if found)]
        return max(self._reach_from(word, start) for start in starts)

    def path(self, word: Word) -> Path | None:
        """The resolved path of a word; None if it is not certain."""
        if word.value is None or (expanded := self._expanded(word)) is None:
            return None
        try:
            return resolve(expanded, self.working_dir)
        except ValueError:
            return None

    def _directory(self, word: Word) -> Path | None:
        return None if word.glob else self.path(word)

    def _expanded(self, word: Word) -> str | None:
        value = word.value or ""
        if not word.tilde:
            return value
        if value == "~" or value.startswith("~/"):
            return f"{self.home}{value[1:]}"
        return None

    def _reach_from(self, word: Word, start: Path) -> Reach:
        expanded = self._expanded(word)
        if expanded is None:
            return Reach.SYSTEM  # the home of somebody else
        fixed, pattern = _split_glob(expanded) if word.glob else (expanded, "")
        try:
            path = resolve(fixed or ".", start)
        except ValueError:
            return Reach.UNKNOWN
        return self._reach_of_glob(path, pattern) if pattern else self._reach_of(path)

    def _reach_of_glob(self, directory: Path, pattern: str) -> Reach:
        around = self._reach_of(directory)
        if pattern in _EVERYTHING:
            return around
        if around is Reach.PROJECT:
            return Reach.INSIDE
        return Reach.OUTSIDE if _same(directory, self.home) else around

    def _reach_of(self, path: Path) -> Reach:
        if _same(path, self.working_dir):
            return Reach.SYSTEM if _is_system(path) else Reach.PROJECT
        if _below(path, self.working_dir) and not _is_system(self.working_dir):
            return Reach.INSIDE
        if any(_same(path, one) for one in (*_WHOLE, self.home)) or _below(self.working_dir, path):
            return Reach.SYSTEM
        if any(_below(path, one) for one in _temporary()):
            return Reach.INSIDE
        system = path.parent == Path("/") or any(_within(path, one) for one in _ROOTS)
        return Reach.SYSTEM if system and not _within(path, self.home) else Reach.OUTSIDE


def _temporary() -> tuple[Path, ...]:
    return (*_TEMPORARY, Path(tempfile.gettempdir()).resolve())


def _is_system(path: Path) -> bool:
    """Whether working there makes nothing below it one's own."""
    whole = any(_same(path, one) for one in (*_WHOLE, *_ROOTS))
    return whole or any(_within(path, one) for one in _NEVER_A_PROJECT)


def _absolute(word: Word) -> bool:
    return (word.value or "").startswith("/") or word.tilde


def _split_glob(value: str) -> tuple[str, str]:
    """The directory before the first wildcard, and the component with it."""
    parts = value.split("/")
    at = next((n for n, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
    if at is None:
        return value, ""
    return "/".join(parts[:at]) or ("/" if value.startswith("/") else ""), parts[at]


def _folded(path: Path) -> tuple[str, ...]:
    return tuple(part.casefold() for part in path.parts)


def _same(one: Path, other: Path) -> bool:
    return _folded(one) == _folded(other)


def _within(path: Path, root: Path) -> bool:
    parts, start = _folded(path), _folded(root)
    return parts[: len(start)] == start


def _below(path: Path, root: Path) -> bool:
    return _within(path, root) and not _same(path, root)
