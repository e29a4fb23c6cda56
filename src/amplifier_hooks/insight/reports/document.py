"""The parts of a report: headings, sentences, tables, quotations and charts.

They hold text and no markup: whoever renders them escapes every text, whatever it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from amplifier_hooks.insight.reports.excerpts import Excerpt

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


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that matters, in large digits."""

    figure: str
    label: str
    detail: str = ""
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Tiles:
    """The figures that matter most, side by side."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """The title of a column, and whether it holds numbers, or words that are not broken."""

    title: str
    number: bool = False
    short: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Parts, ...], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what belongs to them."""

    rows: tuple[tuple[str, Parts], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, made of several parts, one for each series."""

    label: str
    values: tuple[float, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars below one another, with what they stand for."""

    title: str
    series: tuple[tuple[str, str], ...]
    """The name of each series, and its tone."""
    bars: tuple[Bar, ...]
    alone: bool = False
    """Whether its figures stand in no table."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Spans of one kind on a time line; a span without length is a point."""

    title: str
    tone: str
    spans: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened when, in lanes below one another."""

    title: str
    lanes: tuple[Lane, ...]
    note: str = ""


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
