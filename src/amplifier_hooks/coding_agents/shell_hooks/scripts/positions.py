"""The words of a command line that are run as files.

That is what a command starts with, and what an interpreter is given. The rest of the reading is in
`names`: a file in any other place is compared with what was trusted before the hook runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.coding_agents.shell_hooks.scripts.places import is_own, resolve

IsKnown = Callable[[Path], bool]

# A word of a command line: quoted and bare parts that touch.
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\\.|[^\s;&|<>()"'\\])+""")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_BEFORE_A_PROGRAM = re.compile(
    r"^(?:env|exec|command|nohup|time|timeout|nice|sudo|setsid|stdbuf|xargs|if|then|else|elif|do|while"
    r"|until|!|\{|uv|run|npx|poetry|pipenv)$"
)
_INTERPRETERS = re.compile(
    r"^(?:(?:ba|da|k|z)?sh|python[\d.]*|pypy3?|node|deno|bun|tsx|ts-node|ruby|perl|php|source|\.)$"
)
_NO_FILE = re.compile(r"^-(?:\w*[cem]|-eval|-print|-command)$")
_AMOUNT = re.compile(r"^\d[\d.]*[smhd]?$")
_MOVES = re.compile(r"(?:^|[\s;&|(])(?:cd|pushd|popd)(?:\s|$)")


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """A word that names a file: where it stands in the command, and the file."""

    start: int
    end: int
    path: Path


def find_scripts(command: str, folder: Path, is_known: IsKnown) -> Iterator[ScriptWord]:
    """The words of a line of bash that are run as files, from where they are looked for.

    A word with a slash need not name a file that is known: who could put it there could have it
    run. Behind `cd`, nobody can say what a relative word means.
    """
    reader, end, moves = PositionReader(is_known), 0, bool(_MOVES.search(command))
    for found in _WORD.finditer(command):
        if set(command[end : found.start()]) & set(";&|()\n"):
            reader = PositionReader(is_known)
        end, word = found.end(), found.group()
        path = resolve(word, folder)
        if path is None or (moves and not _is_absolute(word)):
            reader.read(word.strip("\"'"), None)
        elif reader.read(word.strip("\"'"), path) and is_own(path):
            yield ScriptWord(found.start(), found.end(), path)


def find_script_words(words: Sequence[str], folder: Path, is_known: IsKnown) -> Iterator[int]:
    """The numbers of the words that are run as files, in a command that no shell reads."""
    reader = PositionReader(is_known)
    for number, word in enumerate(words):
        path = folder / word
        if reader.read(word, path) and is_own(path):
            yield number


def _is_absolute(word: str) -> bool:
    return word.lstrip("\"'").startswith(("/", "~", "$"))


class PositionReader:
    """Follows one simple command from word to word."""

    def __init__(self, is_known: IsKnown) -> None:
        self._is_known = is_known
        self._expects = "program"

    def read(self, name: str, path: Path | None) -> bool:
        """Whether the next word is run as a file."""
        if self._expects == "nothing":
            return False
        if self._expects == "file":
            return self._read_file(name, path)
        base = name.rpartition("/")[2]
        if name.startswith("-") or _ASSIGNMENT.match(name) or _AMOUNT.match(name):
            return False
        if _BEFORE_A_PROGRAM.match(name):
            return False
        self._expects = "file" if _INTERPRETERS.match(base) else "nothing"
        return "/" in name

    def _read_file(self, name: str, path: Path | None) -> bool:
        if name.startswith("-"):
            self._expects = "nothing" if _NO_FILE.match(name) else "file"
            return False
        known = path is not None and self._is_known(path)
        if known or "/" in name:
            self._expects = "nothing"
        # The value of an option, or a word such as `run`: the script may come behind it.
        return known or "/" in name
