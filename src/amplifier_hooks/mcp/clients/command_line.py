"""The command with which a client starts the gateway, and what was in the entry before it."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeGuard

from amplifier_hooks.guards.mcp.protocol import make_server_name

_SCRIPTS = ("amplifier", "amplifier-hooks")


def find_python() -> Path:
    """The interpreter that runs now, under its usual name."""
    # Not resolved: the link in an environment is what finds the packages of that environment.
    running = Path(os.path.abspath(sys.executable))  # noqa: PTH100
    usual = running.with_name("python3")
    is_same = os.path.realpath(usual) == os.path.realpath(running)
    return usual if is_same else running


def is_our_python(command: str) -> bool:
    """Whether a command is an interpreter that finds the packages of this installation."""
    found = _find_program(command)
    if found is None:
        return False
    own = Path(sys.executable)
    folders = (os.path.realpath(one.parent) for one in (found, own))
    return len(set(folders)) == 1 and os.path.realpath(found) == os.path.realpath(own)


def is_our_script(command: str) -> bool:
    """Whether a command is the program of this installation, by either of its names."""
    found = _find_program(command)
    ours = {os.path.realpath(one) for one in _list_scripts() if one.is_file()}
    return found is not None and os.path.realpath(found) in ours


def _find_program(command: str) -> Path | None:
    """What a client starts, wherever it works; None if that depends on where it does."""
    if not command or not command.isprintable():
        return None
    if "/" not in command:
        return _search(command)
    path = Path(command)
    is_plain = path.is_absolute() and ".." not in path.parts
    return path if is_plain and _can_run(path) else None


def _can_run(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


def _search(name: str) -> Path | None:
    for one in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if not os.path.isabs(one):  # noqa: PTH117
            return None  # it means another folder in each project
        found = Path(one) / name
        if _can_run(found):
            return found
    return None


def _list_scripts() -> Iterator[Path]:
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    user = sysconfig.get_preferred_scheme("user")
    if Path(__file__).is_relative_to(sysconfig.get_path("purelib", user)):  # else it is another's
        folders.append(Path(sysconfig.get_path("scripts", user)))
    for folder in folders:
        yield from (folder / name for name in _SCRIPTS)


_MARK = "amplifier-mcp="
_MODULE = "amplifier_hooks.cli.main"
_EARLIER_MODULE = "amplifier_apps.cli.main"  # in lines that earlier versions wrote
_START = ("mcp", "gateway")
_OPTIONS = frozenset(
    {"--name", "--bundle", "--folder", "--new-tools", "--http", "--http-env", "--header-env"}
)
_HARMLESS = frozenset({"-B", "-E", "-P", "-s", "-u"})
"""Options of an interpreter that lead to no other code."""
_MEMO = re.compile(r"[A-Za-z_]+(?::[A-Za-z0-9_.-]*)?(?:,[A-Za-z_]+(?::[A-Za-z0-9_.-]*)?)*")


@dataclass(frozen=True, slots=True)
class Gateway:
    """How the gateway is to be started: by which interpreter, with which bundle."""

    python: Path
    bundle: Path | None = None
    new_tools: str = ""
    """What to do about tools that were never seen: `ask`, `allow`, or what is usual."""

    def build(self, name: str, memo: Mapping[str, str], words: Sequence[str]) -> list[str]:
        """The command and its arguments, for a server that the client calls `name`.

        The memo says what the entry was like, for the way back. Python passes over it. Neither
        the current folder nor PYTHONPATH can put other code in the place of ours.
        """
        start = [str(self.python), "-I", "-X", _MARK + _write_memo(memo), "-m", _MODULE, *_START]
        options = ["--name", make_server_name(name)]
        options += [] if self.bundle is None else ["--bundle", str(self.bundle)]
        options += ["--new-tools", self.new_tools] if self.new_tools else []
        return [*start, *options, *words]


@dataclass(frozen=True, slots=True)
class Line:
    """A command that starts the gateway, read back."""

    program: str
    memo: Mapping[str, str]
    bundle: Path | None
    folder: Path | None = None
    """Whose bundle judges; else that of the folder in which the client starts it."""
    server: tuple[str, ...] = ()
    """The server's own command, if it has one."""
    url: str = ""
    variable: str = ""
    """That has the address."""
    headers: tuple[tuple[str, str], ...] = field(default=())
    """The headers' names, and the variables with their values; a word may stand before one."""
    unknown: str = ""
    """A word that is none of the gateway's options."""
    outdated: bool = False
    """Whether an earlier version wrote it, and this one cannot be started so."""


def make_gateway(bundle: Path | None, new_tools: str = "") -> Gateway:
    """That of this installation."""
    return Gateway(find_python(), bundle, new_tools)


def read_line(command: object, args: object) -> Line | None:
    """What a command says, if we wrote it; None if we did not, or somebody has changed it."""
    if not isinstance(command, str) or not _is_texts(args):
        return None
    start = args[:7]
    words = args[7:]
    outdated = start[4:5] == [_EARLIER_MODULE]
    module = _EARLIER_MODULE if outdated else _MODULE
    if start[:2] != ["-I", "-X"] or start[3:] != ["-m", module, *_START]:
        return None
    memo = _read_memo(start[2])
    if memo is None:
        return None
    options = words[: words.index("--")] if "--" in words else words
    if len(options) % 2 or not set(options[::2]) <= _OPTIONS:
        return None
    line = _read_words(command, memo, words)
    ways = [one for one in (line.server, line.url, line.variable) if one]
    return replace(line, outdated=outdated) if len(ways) == 1 else None


def read_own_line(command: object, args: object) -> Line | None:
    """What a command says with which a person starts the gateway of this installation."""
    if not isinstance(command, str) or not _is_texts(args):
        return None
    if is_our_script(command):
        words: list[str] | None = args
    else:
        words = _skip_start(args) if is_our_python(command) else None
    if words is None or words[:2] != [*_START]:
        return None
    return _read_words(command, {}, words[2:])


def _is_texts(args: object) -> TypeGuard[list[str]]:
    return isinstance(args, list) and all(isinstance(one, str) for one in args)


def _skip_start(args: list[str]) -> list[str] | None:
    """The words for our program, if an interpreter runs nothing else: so only with `-I`."""
    rest = list(args)
    is_isolated = False
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return rest[1:] if is_isolated and rest[:1] == [_MODULE] else None
        is_isolated = is_isolated or word == "-I"
        is_memo = word == "-X" and rest and rest.pop(0).startswith(_MARK)
        if not (is_memo or word == "-I" or word in _HARMLESS):
            return None
    return None


def _read_words(program: str, memo: Mapping[str, str], words: list[str]) -> Line:
    pairs = list[tuple[str, str]]()
    rest = list(words)
    unknown = ""
    server = tuple[str, ...]()
    while rest and not unknown:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if word == "--":
            server = tuple(rest)
            rest = []
        elif option not in _OPTIONS or not (equals or rest):
            unknown = word or "''"
        else:
            pairs.append((option, value if equals else rest.pop(0)))
    found = dict(pairs)
    return Line(
        program=program,
        memo=memo,
        bundle=Path(found["--bundle"]) if "--bundle" in found else None,
        folder=Path(found["--folder"]) if "--folder" in found else None,
        server=server,
        url=found.get("--http", ""),
        variable=found.get("--http-env", ""),
        headers=tuple(_split_headers(pairs)),
        unknown=unknown,
    )


def _split_headers(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for option, value in pairs:
        if option == "--header-env":
            name, _, variable = value.partition("=")
            yield name, variable


def _write_memo(memo: Mapping[str, str]) -> str:
    text = ",".join(f"{key}:{value}" if value else key for key, value in memo.items())
    assert _MEMO.fullmatch(text), text
    return text


def _read_memo(text: str) -> dict[str, str] | None:
    if not text.startswith(_MARK) or not _MEMO.fullmatch(text.removeprefix(_MARK)):
        return None
    parts = (one.partition(":") for one in text.removeprefix(_MARK).split(","))
    return {key: value for key, _, value in parts}
