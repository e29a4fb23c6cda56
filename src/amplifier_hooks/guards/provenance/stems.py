"""Classes of words."""

from __future__ import annotations

from collections.abc import Iterable


def split_names(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


class Stems:
    """A set of words and of beginnings of words."""

    def __init__(self, text: str) -> None:
        words = text.split()
        self._whole = frozenset(one for one in words if not one.endswith("*"))
        self._starts = tuple(one[:-1] for one in words if one.endswith("*"))
        self._unspaced = tuple(one for one in words if one[0] >= "\u3000")

    def fits(self, word: str) -> bool:
        """Whether a word, in small letters, belongs to the class."""
        return word in self._whole or (bool(self._starts) and word.startswith(self._starts))

    def inside(self, text: str) -> bool:
        """Whether a text of a script without blanks has one of the words."""
        return any(one in text for one in self._unspaced)

    def any(self, words: Iterable[str]) -> bool:
        """Whether one of the words does."""
        return any(map(self.fits, words))
