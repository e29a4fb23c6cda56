"""Durations, numbers, times and lists, as people write them; all times are UTC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

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
