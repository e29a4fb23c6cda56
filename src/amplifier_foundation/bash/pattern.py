"""A pattern for commands: `git push --force|-f`, read word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.word import Word

_SHORTEST_LONG_OPTION = 4  # `--fo`: shorter ones abbreviate nearly everything


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """Matches a command of that program, with at least these options and these arguments.

    Each entry of `flags` and `arguments` is a tuple of alternatives, which are globs. The arguments
    occur in this order, with anything between them. A word that is not literal matches no pattern.
    """

    program: tuple[str, ...]
    flags: tuple[tuple[str, ...], ...] = ()
    arguments: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def read(cls, text: str) -> CommandPattern:
        """`program --option|-o argument`; alternatives stand between bars."""
        words = [tuple(word.split("|")) for word in text.split()]
        if not words:
            raise ValueError("A command pattern is empty; write at least a program, such as 'git'")
        if any("" in word for word in words):
            raise ValueError(f"The command pattern {text!r} has an empty alternative beside a '|'")
        flags = tuple(word for word in words[1:] if word[0].startswith("-"))
        arguments = tuple(word for word in words[1:] if not word[0].startswith("-"))
        return cls(tuple(name.casefold() for name in words[0]), flags, arguments)

    def matches(self, command: Command) -> bool:
        """Whether the command is one of these."""
        if not self.matches_name(command.name):
            return False
        given = command.flags
        return all(_has_flag(given, wanted) for wanted in self.flags) and _occur_in_order(
            self.arguments, command.arguments
        )

    def matches_name(self, name: str | None) -> bool:
        """Whether it is about a program of that name."""
        return name is not None and any(fnmatchcase(name, glob) for glob in self.program)


def _has_flag(given: frozenset[str], wanted: Sequence[str]) -> bool:
    return any(_is_same_flag(flag, option) for flag in given for option in wanted)


def _is_same_flag(flag: str, option: str) -> bool:
    """Long options may be abbreviated, as getopt allows it."""
    if fnmatchcase(flag, option):
        return True
    return flag.startswith("--") and len(flag) >= _SHORTEST_LONG_OPTION and option.startswith(flag)


def _occur_in_order(wanted: Sequence[Sequence[str]], given: Sequence[Word]) -> bool:
    words = iter(given)
    return all(any(_matches_word(word, globs) for word in words) for globs in wanted)


def _matches_word(word: Word, globs: Sequence[str]) -> bool:
    return word.value is not None and any(_matches_glob(word.value, glob) for glob in globs)


def _matches_glob(value: str, glob: str) -> bool:
    return value == glob or bool(re.search(r"[*?\[]", glob) and fnmatchcase(value, glob))
