"""The directories that a script may be in while it runs: where it starts, and where `cd` leads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.options import find_values
from amplifier_hooks.guards.bash.place import Place
from amplifier_hooks.guards.bash.word import Word

_MOST = 16
_HOME = Word("~", "~", tilde=True)
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


def list_directories(commands: Iterable[Command], place: Place) -> Directories:
    """Every directory that one of the commands may run in.

    Which `cd` really happens is not followed: each may, in this order, or may not.
    """
    known = {place.working_dir: None}
    complete = True
    for word in _list_changes(commands):
        reached = [None if word.glob else place.find_path(word, start) for start in known]
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
        return _HOME if command.name != "pushd" else Word(".", ".")
    first = words[0]
    if first.value is not None and (first.value == "-" or first.value.startswith("+")):
        return Word(".", ".")
    return first
