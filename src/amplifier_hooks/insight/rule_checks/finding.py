"""What a check of rules has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "never matches",
    "part never matches",
    "excepts everything",
    "no effect",
    "shadowed",
    "contradiction",
    "overlap",
    "disabled",
    "matched nothing",
    "unknown tool",
]

NOTES: frozenset[Kind] = frozenset({"overlap", "disabled", "matched nothing", "unknown tool"})
"""What may well be intended; everything else is a mistake in the rules."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of one rule, or of two together."""

    kind: Kind
    rules: tuple[str, ...]
    places: tuple[str, ...]
    """Where each of the rules is written, as `file:line`."""
    sentence: str
    example: dict[str, Any] | None = None
    """An event that shows it, on which the rules were really run."""

    @property
    def is_note(self) -> bool:
        """Whether it may well be intended."""
        return self.kind in NOTES
