"""Tables, and the figures that matter most."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_hooks.insight.reports.telling.document.inline import Parts, Tone


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
