"""A pattern for commands: `git push --force|-f`, read word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import dropwhile

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.unwrap import find_script_run
from amplifier_hooks.guards.bash.words import Word

USUAL_PLACES = frozenset({"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"})
"""Where the programs of the system are, which agents cannot change."""
_WILDCARD = re.compile(r"[*?\[]")
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
    written: tuple[str, ...] = ()

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
        return cls(tuple(name.casefold() for name in words[0]), flags, arguments, words[0])

    def matches(self, command: Command) -> bool:
        """Whether the command is one of these, or a shell that runs one: `bash deploy.sh`."""
        script = find_script_run(command)
        return self._fits(command) or (script is not None and self._fits(script))

    def _fits(self, command: Command) -> bool:
        # Names are compared without their case, as some file systems do.
        program = command.program and command.program.casefold()
        if not (self.matches_name(command.name) or self.matches_name(program)):
            return False
        given = command.flags
        return all(_has_flag(given, wanted) for wanted in self.flags) and _occur_in_order(
            self.arguments, command.arguments
        )

    def permits(self, command: Command) -> bool:
        """Whether it is surely one of these: the very program, and its arguments from the first on.

        `git status` does not permit `git -c x status`, nor `make` the program `/tmp/make`.
        """
        if not self.covers(command) or not self._is_program(command.program or ""):
            return False
        rest = dropwhile(lambda word: _has_flag(_spell(word), self._list_flags()), command.words)
        return all(
            _matches_word(word, globs) for word, globs in zip(rest, self.arguments, strict=False)
        )

    def covers(self, command: Command) -> bool:
        """Whether it is one of these, and no glob of an argument lets more through than it says.

        The arguments are the first words. Where the last one is a glob, so are all that follow:
        `rm out/*` covers `rm out/a out/b`, but neither `rm out/a ../b` nor `rm out/../b`.
        """
        if not self._fits(command):
            return False
        wanted = list(self.arguments)
        if wanted and any(_WILDCARD.search(glob) for glob in wanted[-1]):
            wanted += [wanted[-1]] * (len(command.arguments) - len(wanted))
        return all(
            _stays_within(word, globs)
            for word, globs in zip(command.arguments, wanted, strict=False)
        )

    def _is_program(self, program: str) -> bool:
        directory, slash, name = program.rpartition("/")
        if (
            slash
            and f"{directory}/" in USUAL_PLACES
            and any(fnmatchcase(name, glob) for glob in self.written)
        ):
            return True
        return any(
            fnmatchcase(program, glob) and ("/" in glob or not slash) for glob in self.written
        )

    def _list_flags(self) -> list[str]:
        return [flag for flags in self.flags for flag in flags]

    def matches_name(self, name: str | None) -> bool:
        """Whether it is about a program of that name."""
        return name is not None and (
            name in self.program
            or any(fnmatchcase(name, glob) for glob in self.program if _WILDCARD.search(glob))
        )


def _spell(word: Word) -> frozenset[str]:
    return frozenset({word.value}) if word.is_flag and word.value else frozenset()


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


def _stays_within(word: Word, globs: Sequence[str]) -> bool:
    """Whether it fits, and does not leave by `..` the folder that a glob names."""
    leaves = ".." in (word.value or "").split("/")
    return any(
        _matches_word(word, [glob]) and (not leaves or glob in ("*", word.value)) for glob in globs
    )


def _matches_word(word: Word, globs: Sequence[str]) -> bool:
    return word.value is not None and any(_matches_glob(word.value, glob) for glob in globs)


def _matches_glob(value: str, glob: str) -> bool:
    return value == glob or bool(_WILDCARD.search(glob) and fnmatchcase(value, glob))
