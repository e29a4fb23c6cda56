"""Folders in which an agent's guard lives: moving, removing or linking one gets around the guard.

What is written to the files themselves, the walls of the plan deny.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from amplifier_hooks.guards.bash import (
    Command,
    Word,
    Workspace,
    list_all_commands,
    list_directories,
)

MOST_READINGS = 10_000
"""More would keep everybody waiting who is judged by the same process."""


def list_readings(words: Sequence[Word], bases: Sequence[Path]) -> Iterator[tuple[Word, Path]]:
    """Each word with each folder; ValueError where they are too many to be looked at."""
    if len(words) * len(bases) > MOST_READINGS:
        raise ValueError(f"the command has {len(words)} words, too many to be looked at")
    return product(words, bases)


ASKER = "guest-uprooting"
_REMOVING = frozenset({"rm", "rmdir", "shred", "trash", "trash-put", "unlink"})
_MOVING = frozenset({"ln", "mv"})
_TO_FOLDER = frozenset({"-t", "--target-directory"})
_CLEANING = {"clean": {"-x", "-X"}, "stash": {"-a", "--all", "-u", "--include-untracked"}}
"""What git removes although it does not know it, by the command and its options."""


def find_uprooted(command: str, folder: Path, files: Sequence[Path]) -> Path | None:
    """The first of the files that a command would move, remove or link with its folder."""
    commands = list_all_commands(command, ASKER)
    workspace = Workspace(folder, Path.home())
    if not any(_list_taken(one) or _cleans(one) for one in commands):
        return None
    bases = list_directories(commands, workspace).known
    roots = {root for one in commands for root in _list_roots(one, workspace, bases)}
    there = (path for path in files if path.exists())
    return next((path for path in there if roots & {*path.parents, *path.resolve().parents}), None)


def _list_roots(command: Command, workspace: Workspace, bases: Sequence[Path]) -> Iterator[Path]:
    """The folders that a command takes away."""
    if _cleans(command):
        yield from (base.resolve() for base in bases)
    found = (workspace.find_path(*one) for one in list_readings(_list_taken(command), bases))
    yield from (path for path in found if path is not None)


def _list_taken(command: Command) -> tuple[Word, ...]:
    if command.name in _REMOVING:
        return command.operands
    if command.name not in _MOVING:
        return ()
    # The last one is where the others go.
    into = len(command.operands) > 1 and _TO_FOLDER.isdisjoint(command.flags)
    return command.operands[:-1] if into else command.operands


def _cleans(command: Command) -> bool:
    if command.name != "git":
        return False
    done = (flags for word, flags in _CLEANING.items() if word in _list_values(command))
    return any(not command.flags.isdisjoint(flags) for flags in done)


def _list_values(command: Command) -> list[str]:
    return [word.value for word in command.arguments if word.value]
