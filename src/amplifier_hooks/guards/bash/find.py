"""`find … -exec COMMAND ;` and `xargs COMMAND`, which run a command on what they find or read."""

from __future__ import annotations

import os
import pwd
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import dropwhile, takewhile
from pathlib import Path

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
_BEFORE_ROOTS = frozenset({"-H", "-L", "-P"})
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


def leave_bodies(command: Command) -> Command:
    """The command of `find` without the commands that it runs."""
    own: list[Word] = []
    inside = False
    for word in command.words:
        inside = inside or word.value in _RUNS
        if not inside:
            own.append(word)
        inside = inside and word.value not in {";", "+"}
    return replace(command, words=tuple(own))


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


# Options beside which everything is found.
_UNCHOOSING = split_names(
    "-delete -depth -d -xdev -mount -type -mindepth -maxdepth -print -print0 -printf -ls -H -L -P "
    "-exec -execdir -ok -okdir -follow -noleaf -ignore_readdir_race -true"
)


def list_chosen(command: Command) -> tuple[Word, ...]:
    """The places that find searches; entries of them if it chooses among what it finds."""
    places = tuple(list_roots(command))
    chooses = {word.value for word in command.words if word.is_flag} - _UNCHOOSING
    return tuple(map(name_entry_of, places)) if chooses else places


_ONE_VALUE = split_names(
    "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -inum -iregex "
    "-links -lname -mmin -mtime -newer -perm -regex -samefile -size -uid -used -user -xtype "
    "-printf -fprint -fprint0 -fls -maxdepth -mindepth -newermt -newerct -newerat"
)
_SURE = split_names(
    "-print -print0 -ls -prune -true -depth -d -mount -xdev -maxdepth -mindepth -printf"
)
Acts = Callable[[Command, Path], bool]
"""Whether a command that find runs does something to the file that it gets."""


@dataclass
class FoundFiles:
    """Which files `find` does something to, as far as names and types tell.

    The expression is evaluated as find does it, with None for tests that only running would tell.
    """

    command: Command
    acts: Acts
    _words: list[str] = field(default_factory=list)
    _path: str = ""
    _entry: Path = Path()
    _is_folder: bool = False
    _touched: bool = False
    _names: bool = False
    _depth: int = 0
    _info: os.stat_result | None = None

    def names(self, folder: Path, below: Path) -> bool:
        """Whether what it prints, or what it runs, may name this path."""
        self._names = True
        result = self._evaluate(folder, below)
        acting = (word.value or "" for word in leave_bodies(self.command).words)
        has_action = any(one in _PRINTING or one.startswith("-fprint") for one in acting)
        runs = any(word.value in _RUNS for word in self.command.words)
        return self._touched or (result is not False and not has_action and not runs)

    def touch(self, folder: Path, below: Path) -> bool:
        """Whether it may do something to this path below the folder where it searches."""
        self._names = False
        self._evaluate(folder, below)
        return self._touched

    def _evaluate(self, folder: Path, below: Path) -> bool | None:
        self._entry = folder / below
        try:
            self._info = self._entry.lstat()
        except (OSError, ValueError):
            self._info = None
        is_folder = self._info is not None and stat.S_ISDIR(self._info.st_mode)
        self._depth = len(below.parts)
        self._words = [word.value or "" for word in self.command.words]
        self._words = list(
            dropwhile(lambda word: not word.startswith(("-", "(", "!")), self._words)
        )
        root = (list_roots(self.command)[0].value or ".").rstrip("/")
        self._path = root if below == Path() else f"{root}/{below.as_posix()}"
        self._is_folder = is_folder
        self._touched = False
        result: bool | None = True
        while self._words:
            result = self._evaluate_or(live=True)
            self._words = self._words[1:]  # a parenthesis too many
        return result

    def _evaluate_or(self, *, live: bool) -> bool | None:
        result = self._evaluate_and(live=live)
        while self._words and self._words[0] in {"-o", "-or", ","}:
            sign = self._words.pop(0)
            other = self._evaluate_and(live=live and (sign == "," or result is not True))
            result = other if sign == "," else _join(result, other)
        return result

    def _evaluate_and(self, *, live: bool) -> bool | None:
        result: bool | None = True
        while self._words and self._words[0] not in {"-o", "-or", ",", ")"}:
            if self._words[0] in {"-a", "-and"}:
                self._words.pop(0)
                continue
            found = self._evaluate_one(live=live and result is not False)
            result = False if result is False or found is False else (result and found)
        return result

    def _evaluate_one(self, *, live: bool) -> bool | None:
        word = self._words.pop(0) if self._words else ""
        if word in {"!", "-not"}:
            found = self._evaluate_one(live=live)
            return None if found is None else not found
        if word == "(":
            found = self._evaluate_or(live=live)
            if self._words:
                self._words.pop(0)
            return found
        if word in _RUNS:
            acts = self._runs_acting() or self._names
            self._touched = self._touched or (live and acts)
            return None
        if word == "-delete" or (self._names and word in _PRINTING):
            self._touched = self._touched or live
        return True if word == "-delete" else self._test(word)

    def _runs_acting(self) -> bool:
        body = list(takewhile(lambda word: word not in {";", "+"}, self._words))
        self._words = self._words[len(body) + 1 :]
        words = [UNKNOWN if one == "{}" else create_literal(one) for one in body]
        # Without the mark it is run for each file, but not told which.
        gets = any("{}" in one for one in body)
        return gets and self.acts(create_inner(self.command, words), self._entry)

    def _test(self, word: str) -> bool | None:
        name = self._path.rpartition("/")[2]
        if word in {"-name", "-path", "-wholename", "-iname", "-ipath", "-type"}:
            value = self._words.pop(0) if self._words else "*"
            if word == "-type":
                return self._has_type(value)
            about = name if word.endswith("name") and "whole" not in word else self._path
            return _match(about, value, fold=word.startswith("-i"))
        if word == "-fprintf":
            del self._words[:2]
        value = self._words.pop(0) if word in _ONE_VALUE and self._words else ""
        if word in _SURE:
            return self._is_deep_enough(word, value)
        return None if self._info is None else _compare_facts(word, value, self._info)

    def _has_type(self, value: str) -> bool | None:
        follows = not {"-L", "-follow"}.isdisjoint(word.value for word in self.command.words)
        if self._info is None or follows or value not in _TYPES:
            return self._is_folder if value == "d" else (not self._is_folder or None)
        return _TYPES[value](self._info.st_mode)

    def _is_deep_enough(self, word: str, value: str) -> bool:
        if word == "-maxdepth" and value.isdigit():
            return self._depth <= int(value)
        return not (word == "-mindepth" and value.isdigit()) or self._depth >= int(value)


_PRINTING = frozenset({"-print", "-print0", "-printf", "-ls"})
_TYPES: dict[str, Callable[[int], bool]] = {
    "f": stat.S_ISREG,
    "d": stat.S_ISDIR,
    "l": stat.S_ISLNK,
    "p": stat.S_ISFIFO,
    "s": stat.S_ISSOCK,
    "b": stat.S_ISBLK,
    "c": stat.S_ISCHR,
}
_TIMES = {"m": "st_mtime", "a": "st_atime", "c": "st_ctime"}
_UNITS = {"": 512, "b": 512, "c": 1, "w": 2, "k": 1024, "M": 1024**2, "G": 1024**3}


def _compare_facts(word: str, value: str, info: os.stat_result) -> bool | None:
    """The tests that the file itself answers: its age, its size, its rights."""
    if word in _FACTS:
        return _FACTS[word](value, info)
    number = re.fullmatch(r"([+-]?)(\d+)([bcwkMG]?)", value)
    if number is None:
        return None
    found: float
    if word == "-size":
        found = -(-info.st_size // _UNITS[number[3]])
    elif re.fullmatch("-[mac](?:time|min)", word):
        age = time.time() - getattr(info, _TIMES[word[1]])
        found = age // (86400 if word.endswith("time") else 60)
    else:
        return None
    wanted = int(number[2])
    if number[1] == "+":
        return found > wanted
    return found < wanted if number[1] == "-" else found == wanted


def _belongs_to(wanted: str, info: os.stat_result) -> bool | None:
    if wanted.isdigit():
        return info.st_uid == int(wanted)
    try:
        return pwd.getpwnam(wanted).pw_uid == info.st_uid
    except KeyError:
        return None


def _has_rights(wanted: str, info: os.stat_result) -> bool | None:
    exact = re.fullmatch("[0-7]{3,4}", wanted)
    return stat.S_IMODE(info.st_mode) == int(wanted, 8) if exact else None


_FACTS: dict[str, Callable[[str, os.stat_result], bool | None]] = {
    "-empty": lambda _, info: info.st_size == 0 if stat.S_ISREG(info.st_mode) else None,
    "-inum": lambda value, info: info.st_ino == int(value) if value.isdigit() else None,
    "-executable": lambda _, info: None if info.st_mode & 0o111 else False,
    "-perm": _has_rights,
    "-user": _belongs_to,
    "-uid": _belongs_to,
}


def _match(text: str, glob: str, *, fold: bool) -> bool | None:
    """Brackets and backslashes do not mean the same to find and to `fnmatchcase`."""
    if "\\" in glob or "[^" in glob or "[:" in glob or not glob:
        return None
    return fnmatchcase(text.casefold(), glob.casefold()) if fold else fnmatchcase(text, glob)


def _join(one: bool | None, other: bool | None) -> bool | None:
    if one is True or other is True:
        return True
    return None if None in (one, other) else False


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
    rest = [_fill_mark(word, mark) for word in reading.rest]
    more = [] if mark and not reading.has("n", "L", "l", "max-args", "max-lines") else [UNKNOWN]
    return open_rest(command, reading, [], [*rest, *more] if rest else [])


def _fill_mark(word: Word, mark: str | None) -> Word:
    """What is around the mark stays: `sh -c 'rm {}'` is a text."""
    if not mark or mark not in word.raw:
        return word
    return UNKNOWN if word.raw.strip("\"'") == mark else replace(word, value=None)


def _find_mark(reading: Reading) -> str | None:
    if not reading.has("I", "i", "replace"):
        return None
    value = reading.find("I", "i", "replace")
    return "{}" if value is None else value.value or value.raw
