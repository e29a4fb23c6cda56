"""How long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from amplifier_hooks.cli.text.words import format_age


@pytest.mark.parametrize(
    ("passed", "age"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=23), "23 h ago"),
        (timedelta(days=400), "400 d ago"),
    ],
)
def test_an_age_has_one_unit(passed: timedelta, age: str) -> None:
    """The largest that fits."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert format_age((now - passed).isoformat(), now) == age


def test_a_time_that_is_none_has_no_age() -> None:
    """Files of others may hold anything."""
    assert format_age("yesterday") == "?"
