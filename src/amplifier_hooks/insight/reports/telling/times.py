"""Times of records, as people write them; all are UTC."""

from __future__ import annotations

from datetime import datetime


def format_clock(time: str) -> str:
    """The time of day of a record, in UTC; a text that is no time stays as it is."""
    when = _parse(time)
    return time[:40] if when is None else f"{when:%H:%M:%S}"


def format_date(time: str) -> str:
    """The day of a record, with the month as a word."""
    when = _parse(time)
    return time[:40] if when is None else f"{when.day} {when:%B %Y}"


def format_minute(time: str) -> str:
    """Day and time of a record, for tables."""
    when = _parse(time)
    return time[:40] if when is None else f"{when:%Y-%m-%d %H:%M}"


def format_span(first: str, last: str) -> str:
    """From when to when, in words."""
    if first[:10] == last[:10]:
        return f"on {format_date(first)} from {format_clock(first)} to {format_clock(last)} UTC"
    return (
        f"from {format_date(first)}, {format_clock(first)}, "
        f"to {format_date(last)}, {format_clock(last)} UTC"
    )


def _parse(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return None
