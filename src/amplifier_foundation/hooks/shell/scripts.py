"""The script files that a hook's command line names.

A command is trusted together with the files it runs, and runs the bytes that were trusted: copies
of them, in a folder that no tool of the agent can write to.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amplifier_foundation.machine.snapshot import Snapshot, normalize

# A word of a command line: quoted and bare parts that touch.
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\\.|[^\s;&|<>()"'\\])+""")
_PROJECT = re.compile(r"\$\{?(?:CLAUDE|GEMINI|CURSOR|CODEX|COPILOT)_PROJECT_DIR\}?")
_HOME = re.compile(r"^(?:~|\$\{?HOME\}?)(?=/)")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_PREFIXES = re.compile(r"^(?:env|exec|command|nohup|time|timeout|nice|sudo|setsid|stdbuf|uv|run)$")
_INTERPRETERS = re.compile(
    r"^(?:(?:ba|da|k|z)?sh|python[\d.]*|pypy3?|node|deno|bun|tsx|ts-node|ruby|perl|php|source|\.)$"
)
_NO_FILE = re.compile(r"^-(?:\w*[cem]|-eval|-print|-command)$")


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """A word that names a file: where it stands in the command, and the file."""

    start: int
    end: int
    path: Path


def find_scripts(command: str, folder: Path) -> Iterator[ScriptWord]:
    """The words that are run as files of the project or of the person's home folder.

    That is what a command starts with, and what an interpreter is given first. A file need not be
    there yet: who could put it there could have it run.
    """
    expects, end = "program", 0
    for found in _WORD.finditer(command):
        if set(command[end : found.start()]) & set(";&|()\n"):
            expects = "program"
        end, word = found.end(), found.group()
        if expects != "nothing":
            runs, expects = _read_position(word, expects)
            path = _read_word(word, folder) if runs else None
            if path is not None and _is_own(path, folder):
                yield ScriptWord(found.start(), found.end(), path)


def _read_position(word: str, expects: str) -> tuple[bool, str]:
    """Whether the word may be a script, and what may come behind it."""
    name = word.strip("\"'")
    if expects == "file":
        if name.startswith("-"):
            return False, "nothing" if _NO_FILE.match(name) else "file"
        return True, "nothing"
    base = name.rpartition("/")[2]
    if _ASSIGNMENT.match(name) or _PREFIXES.match(base) or name.startswith("-") or name.isdigit():
        return False, "program"
    if _INTERPRETERS.match(base):
        return "/" in name, "file"
    return "/" in name, "nothing"


def _read_word(word: str, folder: Path) -> Path | None:
    text = re.sub(r"""["'\\]""", "", word)
    text = _HOME.sub(str(Path.home()), _PROJECT.sub(str(folder), text))
    if "$" in text or "`" in text or len(text) > 1_000 or "\0" in text:
        return None
    return normalize(folder / text)


def _is_own(path: Path, folder: Path) -> bool:
    """Programs of the system are nobody's to change."""
    return any(path.is_relative_to(normalize(place)) for place in (folder, Path.home()))


def read_script(path: Path, folder: Path, snapshot: Snapshot) -> None:
    """Read a script and, unless it lies in the project's own folder, what lies beside it."""
    if not path.is_file():
        return  # it will not run, whoever puts it there
    snapshot.read(path)
    if path.parent not in (normalize(folder), normalize(Path.home())):
        snapshot.read_tree(path.parent, "*")


@dataclass(frozen=True, slots=True)
class ScriptCopies:
    """Writes trusted scripts where only we write, and leads commands to them."""

    snapshot: Snapshot
    project: Path
    folder: Path

    def redirect(self, command: str) -> str:
        """The command with its scripts replaced by the copies."""
        parts, last = [], 0
        for word in find_scripts(command, self.project):
            parts += [command[last : word.start], shlex.quote(str(self.copy(word.path)))]
            last = word.end
        return "".join([*parts, command[last:]])

    def redirect_words(self, words: tuple[str, ...]) -> Iterator[str]:
        """The same for a command that no shell reads."""
        line = shlex.join(words)
        found = {word.path for word in find_scripts(line, self.project)}
        for word in words:
            path = normalize(self.project / word)
            yield str(self.copy(path)) if path in found else word

    def copy(self, path: Path) -> Path:
        """Where the copy of a script is, with what lies beside it; nothing if it is not trusted."""
        if path in self.snapshot:
            for one in self.snapshot.list_below(path.parent):
                self._write(one)
        return self._place(path)

    def _write(self, path: Path) -> None:
        target = self._place(path)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            target.write_bytes(self.snapshot.read(path))
            target.chmod(0o500)

    def _place(self, path: Path) -> Path:
        return self.folder.joinpath(*path.parts[1:])
