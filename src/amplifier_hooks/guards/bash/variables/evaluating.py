"""Builtins that evaluate their words: `let`, `test -v`, and all that take a variable's name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.variables.arithmetic import Evaluation, read_expression
from amplifier_hooks.guards.bash.variables.names import DECLARING, list_set_names, read_name
from amplifier_hooks.guards.bash.word import Word, split_names

_TAKING_NAMES = DECLARING | split_names("read mapfile readarray printf wait getopts test [")
_PASSING = frozenset({"env", "sudo", "doas"})


def evaluate_words(command: Command) -> Evaluation:
    """What the words of one command evaluate, and the names that it sets to texts."""
    evaluated: set[str] = set()
    doubts: list[str] = []
    for expression in _list_expressions(command):
        names, doubt = read_expression(expression)
        evaluated |= names
        doubts += [] if doubt is None else [doubt]
    return Evaluation(
        frozenset(evaluated),
        frozenset(_list_texts(command)),
        tuple(doubts),
        frozenset(_list_arrays(command)),
        frozenset(_list_redeclared(command)),
    )


def _list_expressions(command: Command) -> Iterator[str]:
    if command.name == "let":
        yield from (word.raw if word.value is None else word.value for word in command.words)
    elif command.name in _TAKING_NAMES:
        yield from (_read_index(word) for word in command.words if word.value)
    if command.name in {"test", "["}:
        yield from _list_tested(command.words)


def _list_tested(words: tuple[Word, ...]) -> Iterator[str]:
    """The variables behind `-v`."""
    for before, word in pairwise(words):
        if before.value in {"-v", "-R"} and word.value is None:
            yield word.raw


def _read_index(word: Word) -> str:
    """The index in `name[index]`; a word of another form has none."""
    name, bracket, rest = (word.value or "").partition("[")
    return rest.partition("]")[0] if bracket and name.isidentifier() else "0"


def _list_arrays(command: Command) -> Iterator[str]:
    """The names that the command makes an array of."""
    declares = command.name in DECLARING and command.flags & {"-a", "-A"}
    if declares or command.name in {"read", "mapfile", "readarray"}:
        yield from (name for name in list_set_names(command) if name)


def _list_redeclared(command: Command) -> Iterator[str]:
    """The names that get a text which may be that of an array: unknown, or in parentheses."""
    for word in command.words if command.name in DECLARING else ():
        name = read_name(word)
        given = (word.raw if word.value is None else word.value).partition("=")[2]
        is_visible = word.raw.partition("=")[2].startswith("(")  # `x=(…)`, whose parts are read
        if name and given and not is_visible and (word.value is None or given.startswith("(")):
            yield name


def _list_texts(command: Command) -> Iterator[str]:
    """The names that words set to texts; the grammar has the assignments that it can see."""
    if command.name in DECLARING | _PASSING:
        pairs = [word for word in command.words if "=" in word.raw]
        if all((word.value or "").partition("=")[2].isdigit() for word in pairs):
            return
    elif command.name in {":", None}:
        return
    named = set(list_set_names(command)) - set(command.assigns)
    yield from (name for name in named if name)
