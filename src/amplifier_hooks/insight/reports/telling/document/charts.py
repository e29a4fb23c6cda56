"""Charts: bars, and lanes on a line of time."""

from __future__ import annotations

from dataclasses import dataclass


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
