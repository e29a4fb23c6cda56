"""A word of a shell command: what is written, and what a shell makes of it, if that is certain."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """`value` is None when more than the text decides: variables, substitutions, braces."""

    raw: str
    value: str | None
    glob: bool = False
    tilde: bool = False
    runs: tuple[str | None, ...] = ()
    """The programs whose output becomes part of the word; None for one that is not literal."""
    split: bool = False
    """Whether a shell may make several words of it, or none: `$x` and `"$@"`, but not `"$x"`."""

    @property
    def fixed(self) -> bool:
        """Whether it is exactly one word, and known."""
        return self.value is not None and not self.glob

    @property
    def single(self) -> bool:
        """Whether it is exactly one word, known or not."""
        return not self.glob and not self.split

    @property
    def is_flag(self) -> bool:
        """Whether a program would read it as an option."""
        return self.value is not None and len(self.value) > 1 and self.value[0] == "-"


UNKNOWN = Word("?", None, split=True)
"""Words that stand for anything."""


def create_literal(text: str) -> Word:
    """A word of exactly this text."""
    return Word(text, text)


def split_names(text: str) -> frozenset[str]:
    """The names of a list that is easier to read in one line."""
    return frozenset(text.split())
