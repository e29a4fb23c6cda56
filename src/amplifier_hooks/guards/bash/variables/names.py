"""The variables that a command sets, whichever way it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.options import Options, read_options
from amplifier_hooks.guards.bash.variables.arithmetic import list_computed_names
from amplifier_hooks.guards.bash.word import Word, split_names

DECLARING = split_names("export declare typeset local readonly unset")
_PASSING = frozenset({"env", "sudo", "doas", "make"})
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(?:\+?=|$)")
_READ = Options.read("ersE", "adinNptu")
_MAPFILE = Options.read("t", "dnOsuCc")
_WAIT = Options.read("fn", "p")
_PRINTF = Options.read("", "v")


def list_set_names(command: Command) -> Iterator[str | None]:
    """The names that it sets or takes away; None for one that only running it would tell."""
    yield from command.assigns
    if command.name in DECLARING:
        yield from (read_name(word) for word in command.words if not word.is_flag)
    elif command.name in _PASSING:
        yield from (read_name(word) for word in command.words if "=" in word.raw)
    elif command.name in _SETTERS:
        yield from _SETTERS[command.name](command)


def read_name(word: Word) -> str | None:
    """The name in `NAME`, `NAME=x` and `NAME[1]+=x`; None if it is not literal."""
    found = _NAME.match(word.raw.removeprefix('"') if word.value is None else word.value)
    if found is None or word.glob or (word.value is None and "=" not in found[0]):
        return None
    return found[1]


def _list_read(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _READ)
    words = (*reading.rest, *(value for name, value in reading.given if name == "a" and value))
    yield from (read_name(word) for word in words)
    yield None if reading.doubt else "REPLY"


def _list_mapfile(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _MAPFILE)
    yield from (read_name(word) for word in reading.rest)
    yield None if reading.doubt else "MAPFILE"


def _list_getopts(command: Command) -> Iterator[str | None]:
    yield from (read_name(word) for word in command.words[1:2])
    yield "OPTARG"


def _list_wait(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _WAIT)
    yield from (read_name(value) for _, value in reading.given if value is not None)
    if reading.doubt:
        yield None


def _list_printf(command: Command) -> Iterator[str | None]:
    reading = read_options(command.words, _PRINTF)
    yield from (read_name(value) for _, value in reading.given if value is not None)
    if command.words and command.words[0].value is None and not _is_surely_text(command.words[0]):
        yield None


def _is_surely_text(word: Word) -> bool:
    """`"%s $x"` begins with a letter that no option begins with, whatever x is."""
    begin = word.raw.lstrip("\"'")[:1]
    return word.single and begin not in {"", "$", "-", "`"}


def _list_let(command: Command) -> Iterator[str | None]:
    for word in command.words:
        if word.value is None or word.glob:
            yield None
        else:
            yield from list_computed_names(word.value)


def _list_coproc(command: Command) -> Iterator[str | None]:
    yield from (read_name(word) for word in command.words[:1] if len(command.words) > 1)


_SETTERS: dict[str | None, Callable[[Command], Iterator[str | None]]] = {
    "read": _list_read,
    "mapfile": _list_mapfile,
    "readarray": _list_mapfile,
    "getopts": _list_getopts,
    "wait": _list_wait,
    "printf": _list_printf,
    "coproc": _list_coproc,
    "let": _list_let,
}
