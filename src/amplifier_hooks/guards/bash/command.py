"""A simple command: a program, its words, and what its input and output are connected to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from amplifier_hooks.guards.bash.word import Word, split_names

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


def name_program(word: Word) -> str | None:
    """The program that a word in the first place names; None if only running it would tell."""
    if word.glob or word.tilde or word.value in _RESERVED:
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
