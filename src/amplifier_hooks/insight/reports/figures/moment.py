"""Times of records as seconds, and spans between them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise


def read_seconds(time: str) -> float | None:
    """Seconds since 1970; None if the text is no time."""
    try:
        when = datetime.fromisoformat(time)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def measure(start: str, end: str) -> float | None:
    """The seconds from one time to another; None if one of them is none, or they are swapped."""
    begun, ended = read_seconds(start), read_seconds(end)
    return None if begun is None or ended is None or ended < begun else ended - begun


def go_back(time: str, ms: float | None) -> str:
    """The time that was so many milliseconds before."""
    ended = read_seconds(time)
    if ended is None or ms is None:
        return time
    try:
        return datetime.fromtimestamp(ended - ms / 1000, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return time


class Spans:
    """Spans of time of one kind; when there are too many, neighbours become one."""

    def __init__(self, most: int = 2_000) -> None:
        self._most = most
        self._spans: list[tuple[float, float]] = []

    def add(self, start: str, end: str) -> None:
        """Take a span, if both are times; a point in time is a span without length."""
        begun, ended = read_seconds(start), read_seconds(end)
        if begun is None or ended is None:
            return
        self._spans.append((begun, max(begun, ended)))
        if len(self._spans) > 2 * self._most:
            self._spans = _merge_closest(sorted(self._spans), self._most)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        yield from sorted(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def _merge_closest(spans: list[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """So many spans at most: those with the shortest pauses between them are joined."""
    pauses = sorted(after[0] - before[1] for before, after in pairwise(spans))
    limit = pauses[len(spans) - most - 1]
    merged = [spans[0]]
    for start, end in spans[1:]:
        begun, ended = merged[-1]
        if start - ended <= limit:
            merged[-1] = (begun, max(ended, end))
        else:
            merged.append((start, end))
    return merged
