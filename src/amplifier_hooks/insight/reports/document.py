"""The parts of a report: headings, sentences, tables, quotations and charts.

They hold text and no markup: whoever renders them escapes every text, whatever it holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from amplifier_hooks.insight.reports.excerpts import Excerpt

_UNITS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))


def format_seconds(seconds: float | None) -> str:
    """A duration; nothing if it is not known."""
    if seconds is None:
        return ""
    if seconds < 0.01:
        return "less than 0.01 s" if seconds else "0 s"
    if seconds < 10:
        return f"{seconds:.2g} s"
    for size, word, part, part_word in _UNITS:
        if seconds >= size:
            rest = int(seconds % size / part)
            return f"{int(seconds / size):,} {word}" + (f" {rest} {part_word}" if rest else "")
    return f"{seconds:.0f} s"


def format_milliseconds(ms: float | None) -> str:
    """A short duration; nothing if it is not known."""
    if ms is None:
        return ""
    if ms < 1_000:
        return f"{ms:.2g} ms" if ms < 10 else f"{ms:.0f} ms"
    return format_seconds(ms / 1_000)


def format_money(money: float) -> str:
    """US dollars."""
    return f"${money:,.2f}" if money >= 1 or money == 0 else f"${money:.4f}"


def format_count(count: int, noun: str, plural: str = "") -> str:
    """`1 call`, `3 calls`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def format_times(count: int) -> str:
    """`once`, `twice`, `17 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def join_words(words: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def list_counts(counts: Counter[str], most: int = 6) -> list[tuple[str, int]]:
    """The largest counts, and the sum of the rest under the name `others`."""
    found = [(name, count) for name, count in counts.most_common() if count > 0]
    rest = sum(count for _, count in found[most:])
    return [*found[:most], *([("others", rest)] if rest else [])]


def describe_left_out(count: int, what: str, where: str = "") -> Iterable[str]:
    """A sentence about what was not kept; none if everything was."""
    if count:
        yield f"{format_count(count, what)} {'is' if count == 1 else 'are'} left out here{where}."


def format_clock(time: str) -> str:
    """The time of day of a record, in UTC; a text that is no time stays as it is."""
    when = _parse_time(time)
    return time[:40] if when is None else f"{when:%H:%M:%S}"


def format_date(time: str) -> str:
    """The day of a record, with the month as a word."""
    when = _parse_time(time)
    return time[:40] if when is None else f"{when.day} {when:%B %Y}"


def format_minute(time: str) -> str:
    """Day and time of a record, for tables."""
    when = _parse_time(time)
    return time[:40] if when is None else f"{when:%Y-%m-%d %H:%M}"


def format_span(first: str, last: str) -> str:
    """From when to when, in words."""
    if first[:10] == last[:10]:
        return f"on {format_date(first)} from {format_clock(first)} to {format_clock(last)} UTC"
    return (
        f"from {format_date(first)}, {format_clock(first)}, "
        f"to {format_date(last)}, {format_clock(last)} UTC"
    )


def _parse_time(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return None


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
