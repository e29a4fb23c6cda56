"""Paths of a command: in the project, beside it, or in the system itself."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path

from amplifier_hooks.guards.bash.commands import Command, find_values
from amplifier_hooks.guards.bash.words import Word, create_literal, split_names
from amplifier_hooks.guards.policy.paths import resolve

_ROOTS = tuple(
    Path(name)
    for name in split_names(
        "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /opt /proc /root /sbin /srv /sys "
        "/usr /var /System /Library /Applications /private/etc /private/var"
    )
)
_WHOLE = tuple(
    Path(name) for name in split_names("/ /home /Users /mnt /media /Volumes /tmp /var/tmp /private")
)
_NEVER_A_PROJECT = tuple(
    Path(name) for name in split_names("/bin /boot /dev /etc /lib /lib32 /lib64 /proc /sbin /sys")
)
_TEMPORARY = tuple(Path(name) for name in ["/tmp", "/var/tmp", "/var/folders", "/dev/shm"])
_EVERYTHING = frozenset({"*", ".*", "**", "*.*", ".[!.]*", "?*"})


_KNOWN_PLACE = re.compile(
    r"[\"']?(?:(?P<home>\$HOME|\$\{HOME\})|(?P<here>\$PWD|\$\{PWD\}|\$\(pwd(?: -P)?\)|`pwd`)|"
    r"\$\(git rev-parse --show-toplevel(?: 2>/dev/null)?\)|`git rev-parse --show-toplevel`)"
    r"[\"']?(?P<rest>/[\w./-]*)?[\"']?"
)


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
class Workspace:
    """Where a command runs."""

    working_dir: Path
    home: Path

    def rate(self, word: Word, starts: Iterable[Path] = ()) -> Reach:
        """The worst that the word can name, seen from the working directory and all others."""
        if word.value is None:
            return Reach.UNKNOWN
        return max(self._rate_from(word, start) for start in {self.working_dir, *starts})

    def find_path(self, word: Word, start: Path | None = None) -> Path | None:
        """The resolved path of a word; None if it is not certain."""
        if word.value is None or (expanded := self._expand(word)) is None:
            return None
        try:
            return resolve(expanded, start or self.working_dir)
        except ValueError:
            return None

    def find_place(self, word: Word, start: Path) -> Path | None:
        """The same for a folder to go to, also by `"$(git rev-parse --show-toplevel)"`."""
        found = _KNOWN_PLACE.fullmatch(word.raw)
        if word.value is not None or found is None:
            return self.find_path(word, start)
        rest = found["rest"] or ""
        if found["home"]:
            return self.find_path(create_literal(f"{self.home}{rest}"), start)
        if found["here"]:
            return self.find_path(create_literal(f"{start}{rest}"), start)
        top = next((one for one in (start, *start.parents) if (one / ".git").exists()), start)
        return self.find_path(create_literal(f"{top}{rest}"), start)

    def _expand(self, word: Word) -> str | None:
        value = word.value or ""
        if not word.tilde:
            return value
        if value == "~" or value.startswith("~/"):
            return f"{self.home}{value[1:]}"
        return None

    def _rate_from(self, word: Word, start: Path) -> Reach:
        expanded = self._expand(word)
        if expanded is None:
            return Reach.SYSTEM  # the home of somebody else
        fixed, pattern = _split_glob(expanded) if word.glob else (expanded, "")
        try:
            path = resolve(fixed or ".", start)
        except ValueError:
            return Reach.UNKNOWN
        return self._rate_glob(path, pattern) if pattern else self._rate_path(path)

    def _rate_glob(self, directory: Path, pattern: str) -> Reach:
        around = self._rate_path(directory)
        if pattern in _EVERYTHING:
            return around
        if around is Reach.PROJECT:
            return Reach.INSIDE
        return Reach.OUTSIDE if _is_same(directory, self.home) else around

    def _rate_path(self, path: Path) -> Reach:
        if _is_same(path, self.working_dir):
            return Reach.SYSTEM if _is_never_a_project(path) else Reach.PROJECT
        if _is_below(path, self.working_dir) and not _is_never_a_project(self.working_dir):
            return Reach.INSIDE
        if self._holds_everything(path):
            return Reach.SYSTEM
        # Somebody's home may lie in /var, /root or /tmp; what is in it is its owner's.
        if _is_within(path, self.home) and not _is_same(self.home, Path("/")):
            return Reach.OUTSIDE
        if any(_is_below(path, one) for one in _list_temporary()):
            return Reach.INSIDE
        return Reach.SYSTEM if _is_of_system(path) else Reach.OUTSIDE

    def _holds_everything(self, path: Path) -> bool:
        whole = any(_is_same(path, one) for one in (*_WHOLE, self.home))
        return whole or _is_below(self.working_dir, path)


def is_system_place(path: Path) -> bool:
    """Whether it lies where the system is, or where all homes are."""
    if any(_is_within(path, one) for one in _list_temporary()):
        return False
    return any(_is_within(path, one) for one in _ROOTS) or any(
        _is_same(path, one) for one in _WHOLE
    )


def _list_temporary() -> tuple[Path, ...]:
    return (*_TEMPORARY, Path(tempfile.gettempdir()).resolve())


def _is_of_system(path: Path) -> bool:
    return path.parent == Path("/") or any(_is_within(path, one) for one in _ROOTS)


@lru_cache(maxsize=256)
def _is_never_a_project(path: Path) -> bool:
    """Whether working there makes nothing below it one's own."""
    whole = any(_is_same(path, one) for one in (*_WHOLE, *_ROOTS))
    return whole or any(_is_within(path, one) for one in _NEVER_A_PROJECT)


def _split_glob(value: str) -> tuple[str, str]:
    """The directory before the first wildcard, and the component with it."""
    parts = value.split("/")
    at = next((n for n, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
    if at is None:
        return value, ""
    return "/".join(parts[:at]) or ("/" if value.startswith("/") else ""), parts[at]


@lru_cache(maxsize=4096)
def _fold(path: Path) -> tuple[str, ...]:
    return tuple(part.casefold() for part in path.parts)


def _is_same(one: Path, other: Path) -> bool:
    return _fold(one) == _fold(other)


def _is_within(path: Path, root: Path) -> bool:
    parts = _fold(path)
    start = _fold(root)
    return parts[: len(start)] == start


def _is_below(path: Path, root: Path) -> bool:
    return _is_within(path, root) and not _is_same(path, root)


_MOST = 16
HOME_WORD = Word("~", "~", tilde=True)
"""Where a bare `cd` goes."""
_CHANGERS = frozenset({"cd", "pushd", "chdir"})
_CHDIR_OPTIONS = {
    "env": ("-C", "--chdir"),
    "sudo": ("-D", "--chdir"),
    "make": ("-C", "--directory"),
    "git": ("-C", "-C"),
    "tar": ("-C", "--directory"),
}


@dataclass(frozen=True, slots=True)
class Directories:
    """The directories that are known; `complete` is False when there may be others."""

    known: tuple[Path, ...]
    complete: bool = True


def list_directories(
    commands: Iterable[Command],
    workspace: Workspace,
    resolve_word: Callable[[Word], list[Word]] = lambda word: [],
) -> Directories:
    """Every directory that one of the commands may run in.

    Which `cd` really happens is not followed: each may, in this order, or may not. Words with
    variables become what `resolve_word` says, if anything.
    """
    known = {workspace.working_dir: None}
    complete = True
    for word in _list_changes(commands):
        targets = [word] if word.value is not None else resolve_word(word) or [word]
        reached = [
            None if one.glob else workspace.find_place(one, start)
            for start in known
            for one in targets
        ]
        known |= dict.fromkeys(path for path in reached if path is not None)
        complete = complete and None not in reached
        if len(known) > _MOST:
            return Directories(tuple(known)[:_MOST], complete=False)
    return Directories(tuple(known), complete)


def _list_changes(commands: Iterable[Command]) -> Iterator[Word]:
    for command in commands:
        if command.name in _CHANGERS:
            yield _find_destination(command)
        elif command.name in _CHDIR_OPTIONS:
            yield from find_values(command.words, *_CHDIR_OPTIONS[command.name])


def _find_destination(command: Command) -> Word:
    """A bare `cd` goes home; `cd -` and `pushd +1` go where the script has been before."""
    words = [word for word in command.words if word.value == "-" or not word.is_flag]
    if not words:
        return HOME_WORD if command.name != "pushd" else Word(".", ".")
    first = words[0]
    if first.value is not None and (first.value == "-" or first.value.startswith("+")):
        return Word(".", ".")
    return first
