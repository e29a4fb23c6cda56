"""What speaks against a command, and the surroundings in which that is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.place import Place, Reach
from amplifier_foundation.bash.script import Script
from amplifier_foundation.bash.word import Word, split_names

Action = Literal["ask", "deny"]
"""What a guard should do about a finding."""

Objection = tuple[Action, str]
"""What to do and why: the answer of one check."""

MOST_WORDS = 200
"""A command of more words is not looked at word by word."""

DOWNLOADERS = split_names("curl wget fetch aria2c axel http https xh lynx nc ncat socat")
_WRITERS = frozenset({"tee", "cp", "mv", "ln", "install"})
_HOME = Word("~", "~", tilde=True)


@dataclass(frozen=True, slots=True)
class Finding:
    """What speaks against a command."""

    action: Action
    rule: str
    reason: str
    command: str


@dataclass(frozen=True, slots=True)
class Situation:
    """A command with its surroundings: where its script goes, and what it writes."""

    command: Command
    script: Script
    place: Place
    directories: tuple[Word, ...] = ()
    outputs: frozenset[str] = frozenset()

    def rate(self, words: tuple[Word, ...]) -> tuple[Reach, Word] | None:
        """The worst place among the words, and the word that names it."""
        if len(words) > MOST_WORDS:
            return Reach.UNKNOWN, words[0]
        rated = [(self.place.rate(word, self.directories), word) for word in words]
        return max(rated, key=lambda pair: pair[0], default=None)


def list_situations(script: Script, place: Place) -> Iterator[Situation]:
    """Every command of a script in its surroundings."""
    directories = tuple(_list_directories(script))
    outputs = frozenset(strip_here(value) for value in _list_outputs(script))
    for command in script.commands:
        yield Situation(command, script, place, directories, outputs)


def strip_here(path: str) -> str:
    """`./x` and `x` are the same file."""
    return path.removeprefix("./")


def _list_directories(script: Script) -> Iterator[Word]:
    """Where the script changes to; a bare `cd` goes home."""
    for command in script.commands:
        if command.name in {"cd", "pushd", "chdir"}:
            yield command.arguments[0] if command.arguments else _HOME


def _list_outputs(script: Script) -> Iterator[str]:
    """The files that a script writes or fetches."""
    for command in script.commands:
        yield from (r.target.value for r in command.redirects if r.writes and r.target.value)
        if command.name in DOWNLOADERS or command.name in _WRITERS:
            yield from (word.value for word in command.arguments if word.value)
