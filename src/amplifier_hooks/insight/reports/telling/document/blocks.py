"""The blocks of a document."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_hooks.insight.reports.excerpts import Excerpt
from amplifier_hooks.insight.reports.telling.document.charts import Bars, Timeline
from amplifier_hooks.insight.reports.telling.document.inline import Parts, Tone
from amplifier_hooks.insight.reports.telling.document.tables import Facts, Table, Tiles


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; the report's own has level 1."""

    level: int
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    parts: Parts
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Parts, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Foreign text of several lines, as it is."""

    label: str
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Folded:
    """One line that can be opened."""

    summary: Parts
    body: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """Things that belong together and are not torn apart in print."""

    blocks: tuple[Block, ...]
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a report that begins on a page of its own."""

    blocks: tuple[Block, ...]


Block = (
    Heading
    | Paragraph
    | Bullets
    | Facts
    | Tiles
    | Table
    | Listing
    | Folded
    | Card
    | Bars
    | Timeline
    | Chapter
)


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    blocks: tuple[Block, ...]
