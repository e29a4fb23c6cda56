"""`find … -exec COMMAND ;` and `xargs COMMAND`, which run a command on what they find or read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import dropwhile, takewhile

from amplifier_hooks.guards.bash.commands import Command, Options, Reading, read_options
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.words import UNKNOWN, Word, create_literal, split_names
from amplifier_hooks.guards.bash.wrappers import create_inner, open_rest

_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FD_RUNS = frozenset({"-x", "-X", "--exec", "--exec-batch"})
_TESTS = split_names(
    "-name -iname -path -ipath -wholename -regex -iregex -newer -size -mtime -mmin -user -group "
    "-perm -type -maxdepth -mindepth"
)
_JOINING = split_names("-o -or -a -and -not ! ( ) ,")
_WITHOUT_VALUE = split_names("-depth -d -empty -mount -xdev")
_BEFORE_ROOTS = frozenset({"-H", "-L", "-P"})
_ACTING = frozenset({"-delete", *_RUNS})
_XARGS = Options.read(
    "0ortxp --null --open-tty --no-run-if-empty --interactive --verbose --exit",
    "IndPLsaE --max-args --max-procs --arg-file --delimiter --max-chars --process-slot-var",
    "iel --replace --eof --max-lines",
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


def unwrap_fd(command: Command, owner: str) -> Script:
    """`fd PATTERN -x COMMAND` runs it on what it finds; the words are all that follow."""
    at = next((n for n, word in enumerate(command.words) if word.value in _FD_RUNS), None)
    body = [] if at is None else _take_body(command.words[at + 1 :])
    return Script((create_inner(command, [*body, UNKNOWN]),)) if body else Script(())


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
    words = dropwhile(lambda word: word.value in _BEFORE_ROOTS, command.words)
    return list(takewhile(_is_root, words)) or [create_literal(".")]


def name_entry_of(root: Word) -> Word:
    """A word for some entry of a directory."""
    value = None if root.value is None else f"{root.value.rstrip('/')}/{{}}"
    return replace(root, raw=f"{root.raw}/{{}}", value=value)


def read_name_test(command: Command) -> str | None:
    """The glob of `find … -name GLOB -delete`, if it is certain that all it removes has that name.

    Not so if tests are joined, if the name is looked at after something was done, or if a command
    that is run for each file does more than remove it.
    """
    words = command.words
    if not all(word.fixed for word in words) or not _JOINING.isdisjoint(w.value for w in words):
        return None
    names: list[str] = []
    rest = iter(dropwhile(lambda word: _is_root(word) or word.value in _BEFORE_ROOTS, words))
    for word in rest:
        if word.value in _ACTING:
            break
        value = next(rest, UNKNOWN).value if word.value in _TESTS else None
        if word.value == "-name":
            names.append(value or "")
        elif value is None and word.value not in _WITHOUT_VALUE:
            return None
    acts = (words[at:] for at, word in enumerate(words) if word.value in _ACTING)
    if not all(map(_only_removes, acts)):
        return None
    # Brackets and backslashes do not mean the same to find and to `fnmatchcase`.
    return next((glob for glob in names if not set(glob) & set("[]\\")), None)


def _only_removes(words: tuple[Word, ...]) -> bool:
    """`-delete`, or `-exec rm -rf {} +`."""
    if words[0].value == "-delete":
        return True
    body = [word.value or "" for word in _take_body(words[1:])]
    return body[:1] == ["rm"] and all(one == "{}" or one.startswith("-") for one in body[1:])


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


def unwrap_xargs(command: Command, owner: str) -> Script:
    """`xargs a b` runs `a b` with words that come from its input."""
    reading = read_options(command.words, _XARGS)
    mark = _find_mark(reading)
    # With a mark the input stands where the mark is, otherwise at the end.
    rest = [UNKNOWN if mark and mark in word.raw else word for word in reading.rest]
    return open_rest(command, reading, [], [*rest, UNKNOWN] if rest else [])


def _find_mark(reading: Reading) -> str | None:
    if not reading.has("I", "i", "replace"):
        return None
    value = reading.find("I", "i", "replace")
    return "{}" if value is None else value.value or value.raw
