"""The choice among the options of a question: which is selected, and what each key does to it.

Refusing is always possible and always selected first; "always" needs Enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amplifier_core.approval import allows

__all__ = ["REFUSAL", "Choice", "allows", "for_ever", "letters_of", "rows_of"]

REFUSAL = "Deny"
RESERVED = "cv"  # c: comment, v: view


def for_ever(option: str) -> bool:
    """Whether an option will be remembered."""
    return option.casefold().rstrip(" .!").endswith("always")


def rows_of(options: Sequence[str]) -> tuple[str, ...]:
    """The rows to offer: the options, and a refusal if they have none."""
    offered = tuple(options)
    return offered if any(not allows(option) for option in offered) else (*offered, REFUSAL)


def letters_of(rows: Sequence[str]) -> tuple[str, ...]:
    """A letter for each row, from its own label where one is free, else an empty string."""
    taken = set(RESERVED)
    letters = []
    for row in rows:
        free = (ch for ch in row.casefold() if ch.isascii() and ch.isalpha() and ch not in taken)
        letter = next(free, "")
        taken.add(letter)
        letters.append(letter)
    return tuple(letters)


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows, the selected one, and the decision once there is one."""

    rows: tuple[str, ...]
    letters: tuple[str, ...]
    selected: int
    decision: str | None = None

    @classmethod
    def among(cls, options: Sequence[str]) -> Choice:
        """A fresh choice with a refusal selected."""
        rows = rows_of(options)
        refusals = [index for index, row in enumerate(rows) if not allows(row)]
        once = [index for index in refusals if not for_ever(rows[index])]
        return cls(rows, letters_of(rows), (once or refusals)[0])

    @property
    def refusal(self) -> str:
        """What refusing means here."""
        return Choice.among(self.rows).rows[Choice.among(self.rows).selected]

    def move(self, step: int) -> Choice:
        """The selection one row up or down, round the ends."""
        return replace(self, selected=(self.selected + step) % len(self.rows))

    def press(self, key: str) -> Choice:
        """A digit or letter: decides at once, except for "always", which it only selects."""
        index = self._index_of(key)
        if index is None:
            return self
        chosen = replace(self, selected=index)
        return chosen if for_ever(self.rows[index]) else chosen.enter()

    def enter(self) -> Choice:
        """Decide for the selected row."""
        return replace(self, decision=self.rows[self.selected])

    def refuse(self) -> Choice:
        """Decide for the refusal."""
        return replace(self, decision=self.refusal)

    def _index_of(self, key: str) -> int | None:
        if key.isdigit() and key != "0":
            index = int(key) - 1
            return index if index < len(self.rows) else None
        return self.letters.index(key) if key and key in self.letters else None
