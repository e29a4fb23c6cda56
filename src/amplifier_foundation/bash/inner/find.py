"""`find … -exec COMMAND ;`, with `{}` standing for something below the places searched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import dropwhile, takewhile

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.inner.prefixes import create_inner
from amplifier_foundation.bash.script import Script
from amplifier_foundation.bash.word import UNKNOWN, Word, create_literal, split_names

_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_TESTS = split_names(
    "-name -iname -path -ipath -wholename -regex -iregex -newer -size -mtime -mmin -user -group "
    "-perm -type -maxdepth -mindepth"
)
_MOST_ROOTS = 20  # each `{}` becomes one word a root


def unwrap_find(command: Command, owner: str) -> Script:
    """Each command that `find` runs."""
    roots = list_roots(command)
    roots = roots if len(roots) <= _MOST_ROOTS else [UNKNOWN]
    made: list[Command] = []
    for at, word in enumerate(command.words):
        body = _take_body(command.words[at + 1 :]) if word.value in _RUNS else []
        if body:
            made.append(create_inner(command, [one for w in body for one in _fill(w, roots)]))
    odd = next(_list_odd_words(command.words), None)
    if made and odd is not None:
        return Script(tuple(made), (f"{odd.raw} may make find run something else",))
    return Script(tuple(made))


def _list_odd_words(words: tuple[Word, ...]) -> Iterator[Word]:
    """Words that may be options of find: not literal, and not the single value of a test."""
    inside = False
    for before, word in zip((UNKNOWN, *words), words, strict=False):
        inside = (inside or word.value in _RUNS) and word.value not in {";", "+"}
        if not inside and not word.fixed and not (word.single and before.value in _TESTS):
            yield word


def list_roots(command: Command) -> list[Word]:
    """The places that find searches; without any it is the working directory."""
    # These options stand before the places, all others behind them.
    words = dropwhile(lambda word: word.value in {"-H", "-L", "-P"}, command.words)
    return list(takewhile(_is_root, words)) or [create_literal(".")]


def name_entry_of(root: Word) -> Word:
    """A word for some entry of a directory."""
    value = None if root.value is None else f"{root.value.rstrip('/')}/{{}}"
    return replace(root, raw=f"{root.raw}/{{}}", value=value)


def _is_root(word: Word) -> bool:
    return word.value is None or word.value[:1] not in {"-", "(", "!"}


def _take_body(words: Iterable[Word]) -> list[Word]:
    """The words up to the end of the command, which is a `;` or a `+`."""
    return list(takewhile(lambda word: word.value not in {";", "+"}, words))


def _fill(word: Word, roots: list[Word]) -> list[Word]:
    if word.value != "{}":
        # `sh -c 'cat {}'`: find puts the name into the text, whatever it does there.
        return [replace(word, value=None)] if "{}" in word.raw else [word]
    return [name_entry_of(root) for root in roots]
