"""A simple command: its program, words and redirections, and its options as getopt reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from amplifier_hooks.guards.bash.words import Word, create_literal, split_names

# Where one of these stands for a program, the grammar and a shell read different things.
_RESERVED = split_names(
    "{ } ( ) ! if then elif else fi do done case esac while until for function select"
)


@dataclass(frozen=True, slots=True)
class Redirect:
    """`operator` as written (`>`, `>>`, `<`, `<<<`, …) and the word behind it."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the target is opened for writing."""
        return ">" in self.operator and not self.names_stream

    @property
    def names_stream(self) -> bool:
        """Whether it names a stream that is open already: `2>&1`, `>&-`; `> 1` is a file."""
        if not self.operator.endswith("&"):
            return self.operator.endswith("&-")
        return (self.target.value or "").removesuffix("-").isdigit()


Way = tuple[Word, ...]
"""The words of every `cd` that leads to a command, the first one first."""
Ways = frozenset[Way]
"""All that may lead there; `None` in its place if only running the script would tell."""
STAYING: Ways = frozenset({()})
"""Where the script begins."""


@dataclass(frozen=True)
class Command:
    """One simple command. `program` is None when only running it would tell what it is.

    `piped_from` are the programs whose output it can read, `stdin` is the text of a here-document
    or here-string, `via` are the commands that run this one, the outermost first. One that
    `calls_function` stands behind the definition of a function of its name.
    """

    program: str | None
    words: tuple[Word, ...] = ()
    text: str = ""
    assigns: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    piped_from: tuple[str | None, ...] = ()
    stdin: Word | None = None
    via: tuple[str, ...] = ()
    calls_function: bool = False
    ways: Ways | None = STAYING

    @cached_property
    def name(self) -> str | None:
        """The program without its directory, in small letters: what a list would call it."""
        return None if self.program is None else self.program.rpartition("/")[2].casefold()

    @cached_property
    def flags(self) -> frozenset[str]:
        """Its options: `-rf` is also `-r` and `-f`, `--depth=1` is also `--depth`."""
        first = self.words[0].value if self.words else None
        # `tar xf a`: the first word of tar is a cluster of options, with or without a dash.
        bundled = first if first and self.name in {"tar", "bsdtar"} and first.isalpha() else ""
        given = (flag for word in self.words for flag in _list_flags(word))
        return frozenset({*given, *(f"-{letter}" for letter in bundled)})

    @cached_property
    def arguments(self) -> tuple[Word, ...]:
        """Its words that are no options."""
        return tuple(word for word in self.words if not word.is_flag)

    @cached_property
    def operands(self) -> tuple[Word, ...]:
        """Its words that are no options; behind `--` all of them."""
        words = self.words
        ends = next((at for at, word in enumerate(words) if word.value == "--"), len(words))
        return tuple(word for word in words[:ends] if not word.is_flag) + words[ends + 1 :]

    @cached_property
    def certain(self) -> bool:
        """Whether every word is what it reads as."""
        return self.program is not None and all(word.value is not None for word in self.words)

    def run_by(self, *wrappers: str) -> Command:
        """The same command, run by others."""
        return replace(self, via=(*wrappers, *self.via))

    def run_behind(self, outer: Ways | None) -> Command:
        """The same command, where the ways to what runs it begin."""
        if outer is None or self.ways is None:
            return replace(self, ways=None)
        return replace(self, ways=frozenset((*one, *two) for one in outer for two in self.ways))


def name_program(word: Word) -> str | None:
    """The program that a word in the first place names; None if only running it would tell."""
    if word.glob or word.value in _RESERVED or (word.tilde and "/" not in (word.value or "")):
        return None
    return word.value or None


def _list_flags(word: Word) -> Iterator[str]:
    if not word.is_flag or word.value is None:
        return
    value = word.value
    yield value
    yield value.partition("=")[0]
    if not value.startswith("--"):
        yield from (f"{value[0]}{letter}" for letter in value[1:])


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a program has, by letter and by long name.

    `optional` have a value only when it is attached, as in `xargs -i{}`. A program that `permutes`
    takes options behind its arguments, too.
    """

    plain: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    permutes: bool = False

    @classmethod
    def read(
        cls, plain: str = "", valued: str = "", optional: str = "", *, permutes: bool = False
    ) -> Options:
        """Each a list of names between blanks; letters without value may stand together."""
        return cls(_split(plain), _split(valued), _split(optional), permutes)

    def find_long(self, name: str) -> str | None:
        """The long option that a name or its abbreviation means; None if there is no such one."""
        names = [one for one in (*self.plain, *self.valued, *self.optional) if len(one) > 1]
        if name in names:
            return name
        found = [one for one in names if one.startswith(name)]
        return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Reading:
    """The options that were given with their values, and the words behind them.

    `doubt` says why the words may have been read wrongly.
    """

    given: tuple[tuple[str, Word | None], ...]
    rest: tuple[Word, ...]
    doubt: str | None = None

    def find(self, *names: str) -> Word | None:
        """The value of the last of these options that was given."""
        values = [value for name, value in self.given if name in names and value is not None]
        return values[-1] if values else None

    def has(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(name in names for name, _ in self.given)


class _Reader:
    """Reads words one after the other, as getopt does."""

    def __init__(self, words: Sequence[Word], options: Options) -> None:
        self._left = list(words)
        self._options = options
        self._given: list[tuple[str, Word | None]] = []
        self._passed: list[Word] = []
        self._doubt: str | None = None

    def read(self) -> Reading:
        while self._left:
            word = self._left[0]
            if not word.fixed:
                self._doubt = self._doubt or f"{word.raw} may be an option, or several words"
            if word.value == "--":
                self._left.pop(0)
                break
            if word.is_flag:
                self._left.pop(0)
                self._take_flag(word.value or "")
            elif self._options.permutes:
                self._passed.append(self._left.pop(0))
            else:
                break
        return Reading(tuple(self._given), (*self._passed, *self._left), self._doubt)

    def _take_flag(self, value: str) -> None:
        if value.startswith("--"):
            self._take_long(value[2:])
        else:
            self._take_cluster(value[1:])

    def _take_long(self, text: str) -> None:
        name, equals, attached = text.partition("=")
        long = self._options.find_long(name)
        if long is None:
            self._doubt = self._doubt or f"its option --{name} is not known here"
        elif equals:
            self._given.append((long, create_literal(attached)))
        else:
            self._given.append((long, self._take_value() if self._is_valued(long) else None))

    def _take_cluster(self, letters: str) -> None:
        for at, letter in enumerate(letters):
            rest = letters[at + 1 :]
            if self._is_valued(letter):
                self._given.append((letter, create_literal(rest) if rest else self._take_value()))
                return
            if letter in self._options.optional:
                self._given.append((letter, create_literal(rest) if rest else None))
                return
            if letter not in self._options.plain:
                self._doubt = self._doubt or f"its option -{letter} is not known here"
            self._given.append((letter, None))

    def _is_valued(self, name: str) -> bool:
        return name in self._options.valued

    def _take_value(self) -> Word | None:
        if not self._left:
            return None
        word = self._left.pop(0)
        if not word.single:
            self._doubt = self._doubt or f"{word.raw} may be several words"
        return word


def read_options(words: Sequence[Word], options: Options) -> Reading:
    """The options at the beginning of the words, and what follows them."""
    return _Reader(words, options).read()


def find_values(words: Sequence[Word], short: str, long: str) -> Iterator[Word]:
    """Every value that an option may have, for programs whose options are not all known.

    In any of `-S x`, `-Sx`, `-vS x`, `--long x` and `--long=x`.
    """
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else None
        found = _read_long(word, long, following) or _read_short(word, short, following)
        if found is not None:
            yield found


def _read_long(word: Word, long: str, following: Word | None) -> Word | None:
    text = word.raw if word.value is None else word.value
    name, equals, attached = text.partition("=")
    if len(name) < 4 or not name.startswith("--") or not long.startswith(name):
        return None
    if not equals:
        return following
    return replace(word, value=None if word.value is None else attached, raw=attached)


def _read_short(word: Word, short: str, following: Word | None) -> Word | None:
    """In a cluster, too; a value behind a letter that itself has one is found as well."""
    if word.value is None:  # `-S"$x"`: the option itself is certain, its value is not
        return word if word.raw.lstrip("\"'").startswith(short) else None
    letters = word.value[1:] if word.is_flag and not word.value.startswith("--") else ""
    if len(short) != 2 or short[1] not in letters:
        return None
    attached = letters.partition(short[1])[2]
    return create_literal(attached) if attached else following


def _split(text: str) -> frozenset[str]:
    """`abc --long` are the letters a, b and c and a long name."""
    names: set[str] = set()
    for part in text.split():
        names |= {part[2:]} if part.startswith("--") else set(part)
    return frozenset(names)
