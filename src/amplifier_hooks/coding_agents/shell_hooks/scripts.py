"""The script files that hooks name, and what is done so that they run as a person has seen them.

A command is trusted together with the files that it names anywhere: in quotes, behind options, in
code for a shell. What it starts are copies of the bytes that were trusted, in a folder that no tool
of the agent can write to; what else it names must not have changed when it runs.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.machine.files import Snapshot, normalize, read_regular
from amplifier_hooks.machine.locations import is_installed

# Which files are somebody's to change, and what their names mean


_SCRIPT = re.compile(
    r"\.(?:sh|bash|zsh|ksh|fish|py|[cm]?js|[cm]?ts|tsx|rb|pl|php|lua|awk|sed|jq|ps1)$"
)
_SETTINGS = re.compile(r"\.(?:json|ya?ml|toml|ini|cfg)$")
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc", "/nix")))
_ENVIRONMENTS = frozenset({".venv", "venv", "node_modules", ".tox"})
_PROJECT = re.compile(r"\$\{?(?:CLAUDE|GEMINI|CURSOR|CODEX|COPILOT)_PROJECT_DIR\}?|\$\{?PWD\}?")
_HOME = re.compile(r"^(?:~|\$\{?HOME\}?)(?=/)")
_LONGEST = 1_000


def resolve(word: str, folder: Path) -> Path | None:
    """The file that a word of bash names, if that can be said."""
    text = re.sub(r"""["'\\]""", "", word)
    text = _HOME.sub(str(Path.home()), _PROJECT.sub(str(folder), text))
    if not text or set("$`\0*?[") & set(text) or len(text) > _LONGEST:
        return None
    return normalize(folder / text)


def is_own(path: Path) -> bool:
    """Whether a file may be somebody's of this project or home, and not the system's.

    What is installed in an environment of the project cannot be told apart from the rest of it,
    which no copy of one file would hold: it is run as it is.
    """
    outside = any(path.is_relative_to(place) for place in _SYSTEM)
    return not outside and not is_in_environment(path) and not is_installed(path)


def is_in_environment(path: Path) -> bool:
    """Whether a file belongs to packages that are installed in a project."""
    return not _ENVIRONMENTS.isdisjoint(path.parts)


def is_script(path: Path) -> bool:
    """Whether a file is a script: by its name, its mode or its first bytes."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return False
        if _SCRIPT.search(path.name) or found.st_mode & stat.S_IXUSR:
            return True
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(2) == b"#!"
    except (OSError, ValueError):
        return False


def is_part_of_script(path: Path) -> bool:
    """Whether a file that lies beside a script is one too, or may hold its settings."""
    return bool(_SETTINGS.search(path.name)) or is_script(path)


# The files that a command line names anywhere


_PIECE = re.compile(r"""(>{1,2}&?\s*)?([^\s;&|<>()"'`=,{}]+)""")
_EXPANSIONS = re.compile(r"^[^/]*\$[^/]*(?=/)|^\)*(?=/)")
_MODULE = re.compile(r"-m\s+([A-Za-z_][\w.]*)")
_PYTHON = re.compile(r"\bpython[\d.]*\s(?:.*\s)?-\w*[mc]\b")
_MOST = 400


def list_named(texts: Sequence[str], folder: Path) -> list[Path]:
    """Every file that the texts may name, whether it is there or not."""
    pieces = [piece for text in texts for piece in _list_pieces(text)][:_MOST]
    found = [path for piece in pieces for path in _resolve(piece, folder)]
    # Behind `cd`, names start from the folder that was gone to.
    gone_to = [path for path in dict.fromkeys(found) if path != folder and path.is_dir()][:5]
    found += [path for place in gone_to for piece in pieces for path in _resolve(piece, place)]
    found += list_modules(texts, folder)
    return [path for path in dict.fromkeys(found) if is_own(path)]


def _list_pieces(text: str) -> Iterator[str]:
    for redirected, piece in _PIECE.findall(text):
        if not redirected:  # that one is written, not run
            yield piece


def _resolve(piece: str, folder: Path) -> Iterator[Path]:
    """A name as it is, and what is left of it when a value that nobody knows is taken away."""
    for text in dict.fromkeys((piece, _EXPANSIONS.sub(".", piece))):
        path = resolve(text, folder)
        if path is not None:
            yield path


def list_modules(texts: Sequence[str], folder: Path) -> list[Path]:
    """The files of modules that Python is told to run, were they in the folder."""
    names = _MODULE.findall(" ".join(texts))
    return [path for name in names for path in _list_module_files(name, folder)]


def _list_module_files(name: str, folder: Path) -> list[Path]:
    place = normalize(folder.joinpath(*name.split(".")))
    top = normalize(folder / name.partition(".")[0])
    return [
        place.with_name(f"{place.name}.py"),
        place / "__main__.py",
        place / "__init__.py",
        top.with_name(f"{top.name}.py"),
        top / "__init__.py",
    ]


def runs_modules(texts: Sequence[str]) -> bool:
    """Whether Python is given a module or code, and would look for modules in the folder first."""
    return _PYTHON.search(" ".join(texts)) is not None


def find_changed(expected: Mapping[Path, bytes | None]) -> Path | None:
    """The first file that is not what it was; one that was no script must not have become one."""
    return next((path for path, content in expected.items() if _is_other(path, content)), None)


def _is_other(path: Path, content: bytes | None) -> bool:
    if content is None:
        return is_script(path)
    try:
        return read_regular(path) != content
    except OSError:
        return True


# The words of a command line that are run as files


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
    reader = PositionReader(is_known)
    end = 0
    moves = bool(_MOVES.search(command))
    for found in _WORD.finditer(command):
        if set(command[end : found.start()]) & set(";&|()\n"):
            reader = PositionReader(is_known)
        end = found.end()
        word = found.group()
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


# Copies of what was trusted


_FROM_ELSEWHERE = {"PYTHONSAFEPATH": "1"}


def read_scripts(handlers: Iterable[Handler], project: Path, snapshot: Snapshot) -> None:
    """Read the files that hooks name into the snapshot, and code beside those that they start."""
    for handler in handlers:
        folder = _get_folder(handler, project)
        for path in list_named(_get_texts(handler), folder):
            if is_script(path):
                snapshot.read(path)
        for path in _find_started(handler, folder, Path.is_file):
            if path.is_file():
                snapshot.read(path)
                _read_beside(path, project, snapshot)


def _read_beside(path: Path, project: Path, snapshot: Snapshot) -> None:
    if path.parent not in (normalize(project), normalize(Path.home())):
        snapshot.read_tree(path.parent, "*", is_part_of_script)


def _get_folder(handler: Handler, project: Path) -> Path:
    return normalize(project / handler.cwd) if handler.cwd else project


def _get_texts(handler: Handler) -> tuple[str, ...]:
    return handler.args if handler.args is not None else (handler.command or "",)


def _find_started(handler: Handler, folder: Path, is_known: IsKnown) -> Iterator[Path]:
    if handler.args is not None:
        numbers = find_script_words(handler.args, folder, is_known)
        yield from (normalize(folder / handler.args[number]) for number in numbers)
    elif handler.command is not None:
        found = find_scripts(handler.command, folder, is_known)
        yield from (word.path for word in found)


@dataclass(frozen=True, slots=True)
class Pins:
    """Writes trusted scripts where only we write, and leads hooks to them."""

    snapshot: Snapshot
    project: Path
    folder: Path

    def pin(self, handler: Handler) -> Handler:
        """The hook with its scripts replaced by copies, and with what must not have changed."""
        texts = _get_texts(handler)
        folder = _get_folder(handler, self.project)
        if handler.url is not None:
            return handler
        started = set(_find_started(handler, folder, self.snapshot.__contains__))
        named = [path for path in list_named(texts, folder) if path not in started]
        own_modules = any(path in self.snapshot for path in list_modules(texts, folder))
        safe = _FROM_ELSEWHERE if runs_modules(texts) and not own_modules else {}
        return replace(
            handler,
            run=self._redirect(handler, folder),
            expects={path: self._get(path) for path in named},
            env={**safe, **handler.env},
        )

    def _get(self, path: Path) -> bytes | None:
        return self.snapshot.read(path) if path in self.snapshot else None

    def _redirect(self, handler: Handler, folder: Path) -> str | tuple[str, ...]:
        is_known = self.snapshot.__contains__
        if handler.args is not None:
            words = list(handler.args)
            for number in find_script_words(handler.args, folder, is_known):
                words[number] = str(self._copy(normalize(folder / words[number])))
            return tuple(words)
        command = handler.command or ""
        parts = []
        last = 0
        for word in find_scripts(command, folder, is_known):
            parts += [command[last : word.start], shlex.quote(str(self._copy(word.path)))]
            last = word.end
        return "".join([*parts, command[last:]])

    def _copy(self, path: Path) -> Path:
        """Where the copy of a script is, with what lies beside it; nothing if it is not trusted."""
        if path in self.snapshot:
            for one in [one for one in self.snapshot.files if one.is_relative_to(path.parent)]:
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
