"""What speaks against a command, and the surroundings in which that is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.outputs import list_outputs
from amplifier_hooks.guards.bash.directories import Directories, list_directories
from amplifier_hooks.guards.bash.place import Place, Reach
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.word import Word

Action = Literal["ask", "deny"]
"""What a guard should do about a finding."""

Objection = tuple[Action, str]
"""What to do and why: the answer of one check."""

MOST_WORDS = 200
"""A command of more words is not looked at word by word."""


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
    directories: Directories
    outputs: frozenset[str] = frozenset()
    found: dict[Word, set[Path]] = field(default_factory=dict)
    rated: dict[Word, Reach] = field(default_factory=dict)
    """What was found before, for all commands of the script."""

    def rate(self, words: tuple[Word, ...]) -> tuple[Reach, Word] | None:
        """The worst place among the words, and the word that names it."""
        if len(words) > MOST_WORDS:
            return Reach.UNKNOWN, words[0]
        rated = [(self.rate_word(word), word) for word in words]
        return max(rated, key=lambda pair: pair[0], default=None)

    def rate_word(self, word: Word) -> Reach:
        """The worst place that the word may name."""
        if word not in self.rated:
            reach = self.place.rate(word, self.directories.known)
            self.rated[word] = max(reach, Reach.UNKNOWN) if self.is_adrift(word) else reach
        return self.rated[word]

    def find_paths(self, word: Word) -> set[Path]:
        """Every path that the word may name, from each directory that the script may be in."""
        if word not in self.found:
            paths = (self.place.find_path(word, start) for start in self.directories.known)
            self.found[word] = {path for path in paths if path is not None}
        return self.found[word]

    def is_adrift(self, word: Word) -> bool:
        """Whether it is relative to a directory that only running the script would tell."""
        absolute = word.tilde or (word.value or "").startswith("/")
        return not self.directories.complete and not absolute


def list_situations(script: Script, place: Place) -> Iterator[Situation]:
    """Every command of a script in its surroundings."""
    directories = list_directories(script.commands, place)
    outputs = frozenset(map(strip_directory, list_outputs(script)))
    found: dict[Word, set[Path]] = {}
    rated: dict[Word, Reach] = {}
    for command in script.commands:
        yield Situation(command, script, place, directories, outputs, found, rated)


def strip_directory(path: str) -> str:
    """The name of a file: a `cd` before it may change what its directory is called."""
    return path.rstrip("/").rpartition("/")[2]
