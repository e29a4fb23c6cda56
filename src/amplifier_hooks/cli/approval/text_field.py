"""A line of text that is being edited, with a cursor in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Move = Literal["left", "right", "home", "end"]
Removal = Literal["before", "after", "all before"]


@dataclass(frozen=True, slots=True)
class TextField:
    """A text, and how many of its characters stand before the cursor."""

    text: str
    cursor: int

    @classmethod
    def holding(cls, text: str) -> TextField:
        """A field with the cursor behind its text."""
        return cls(text, len(text))

    @property
    def parts(self) -> tuple[str, str, str]:
        """What stands before the cursor, under it, and behind it."""
        at = self.cursor
        return self.text[:at], self.text[at : at + 1], self.text[at + 1 :]

    def insert(self, typed: str) -> TextField:
        """Put in what was typed; a line stays one line, and holds what can be seen."""
        clean = "".join(ch if ch.isprintable() else " " * (ch in "\r\n\t") for ch in typed)
        text = self.text[: self.cursor] + clean + self.text[self.cursor :]
        return TextField(text, self.cursor + len(clean))

    def move(self, where: Move) -> TextField:
        """Move the cursor; it stays within the text."""
        ends = {"home": 0, "end": len(self.text)}
        steps = {"left": self.cursor - 1, "right": self.cursor + 1}
        wanted = {**ends, **steps}[where]
        return replace(self, cursor=min(len(self.text), max(0, wanted)))

    def remove(self, which: Removal) -> TextField:
        """Take out a character beside the cursor, or all before it."""
        start = {"before": max(0, self.cursor - 1), "after": self.cursor, "all before": 0}[which]
        end = self.cursor + (which == "after")
        return TextField(self.text[:start] + self.text[end:], start)
