"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.text.times import InvalidTime, parse_time

EAST = timezone(timedelta(hours=2))
NOW = datetime(2026, 11, 15, 0, 30, tzinfo=EAST)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("today", "2026-11-14T22:00:00"),
        ("Yesterday", "2026-11-13T22:00:00"),
        ("24h", "2026-11-13T22:30:00"),
        ("1d", "2026-11-13T22:30:00"),
        ("90min", "2026-11-14T21:00:00"),
        ("90m", "2026-11-14T21:00:00"),
        ("2 w", "2026-10-31T22:30:00"),
        ("30s", "2026-11-14T22:29:30"),
        ("09:30", "2026-11-15T07:30:00"),
        ("2026-11-15", "2026-11-14T22:00:00"),
        ("2026-11-15T09:30Z", "2026-11-15T09:30"),
        ("2026-11", "2026-11"),
        ("2026", "2026"),
        ("2026-11-15T09Z", "2026-11-15T09"),
        ("2026-11-15T09:30:00.5Z", "2026-11-15T09:30:00.5"),
        ("2026-11-15T09:30:00+02:00", "2026-11-15T07:30:00"),
    ],
)
def test_every_form_that_the_message_names_is_read(given: str, meant: str) -> None:
    """Relative to now, on the clock of whoever asks."""
    assert parse_time(given, zone=EAST, now=NOW) == meant


@given(st.text(max_size=12) | st.from_regex(r"\d{1,12} ?[a-z]{1,3}", fullmatch=True))
def test_anything_else_is_refused_with_what_would_do(text: str) -> None:
    """Whatever it is, never with another error."""
    said = ""
    try:
        parse_time(text, zone=UTC)
    except InvalidTime as error:
        said = str(error)
    assert not said or ("yesterday" in said and "2026-11-15" in said)


@pytest.mark.parametrize("text", ["26-11-15", "2026-13-45T99:99:99+99:99", "٢٠٢٦", "2026-", ""])
def test_what_is_nearly_a_time_is_none(text: str) -> None:
    """Half a date would be compared as text, and find nothing."""
    with pytest.raises(InvalidTime):
        parse_time(text, zone=UTC)
