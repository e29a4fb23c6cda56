"""The parts of a sentence: our words, and the words of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "bad", "warn", "note", "dim"]


@dataclass(frozen=True, slots=True)
class Code:
    """A name, a path, a command: foreign text on one line, as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence of somebody else: a hook's reason, a person's comment."""

    text: str


@dataclass(frozen=True, slots=True)
class Marked:
    """Words of ours that stand out."""

    text: str
    tone: Tone | Literal["strong"] = "strong"


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the same report."""

    text: str
    anchor: str


Inline = str | Code | Quoted | Marked | Link
Parts = tuple[Inline, ...]
