"""The choice among the options of a question: which is selected, and what each key does to it.

Refusing is always possible and always selected first; what would be remembered needs Enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amplifier_core.approval import read_option

REFUSAL = "Deny"
RESERVED = "cev"  # c: comment, e: edit, v: view


def add_refusal(options: Sequence[str]) -> tuple[str, ...]:
    """The rows to offer: the options, and a refusal if they have none."""
    if all(read_option(option).allows for option in options):
        return (*options, REFUSAL)
    return tuple(options)


def assign_letters(rows: Sequence[str]) -> tuple[str, ...]:
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
    refusal: str
    decision: str | None = None

    @classmethod
    def among(cls, options: Sequence[str]) -> Choice:
        """A fresh choice with a refusal selected, if possible one for this time only."""
        rows = add_refusal(options)
        meanings = [read_option(row) for row in rows]
        refusals = [index for index, one in enumerate(meanings) if not one.allows]
        selected = min(refusals, key=lambda index: meanings[index].remembered)
        return cls(rows, assign_letters(rows), selected, rows[selected])

    def move(self, step: int) -> Choice:
        """The selection one row up or down, round the ends."""
        return replace(self, selected=(self.selected + step) % len(self.rows))

    def press(self, key: str) -> Choice:
        """A digit or letter: decides at once; what would be remembered it only selects."""
        index = self._find(key)
        if index is None:
            return self
        selected = replace(self, selected=index)
        return selected if read_option(self.rows[index]).remembered else selected.enter()

    def select_refusal(self) -> Choice:
        """Select the refusal, without deciding."""
        return replace(self, selected=self.rows.index(self.refusal))

    def enter(self) -> Choice:
        """Decide for the selected row."""
        return replace(self, decision=self.rows[self.selected])

    def allow_once(self) -> Choice:
        """Decide for the first row that allows and is not remembered; for none, nothing changes."""
        meanings = [(row, read_option(row)) for row in self.rows]
        once = [row for row, one in meanings if one.allows and not one.remembered]
        return replace(self, decision=once[0]) if once else self

    def refuse(self) -> Choice:
        """Decide for the refusal."""
        return replace(self, decision=self.refusal)

    def _find(self, key: str) -> int | None:
        """The row of a digit or a letter."""
        digits = dict(zip("123456789", range(len(self.rows)), strict=False))
        letters = {letter: index for index, letter in enumerate(self.letters) if letter}
        return {**letters, **digits}.get(key)
