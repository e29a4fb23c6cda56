"""Times in words."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.times import (
    format_clock,
    format_date,
    format_minute,
    format_span,
)

WHEN = "2026-11-05T09:03:02.661644914Z"


def test_times_are_as_people_write_them() -> None:
    """A text that is no time stays, up to a length."""
    assert format_clock(WHEN) == "09:03:02"
    assert format_date(WHEN) == "5 November 2026"
    assert format_minute(WHEN) == "2026-11-05 09:03"
    assert format_clock("<b>" * 40) == ("<b>" * 40)[:40]


def test_a_span_names_the_day_once_if_it_is_one() -> None:
    """Else both days."""
    later = "2026-11-06T10:00:00Z"
    assert format_span(WHEN, WHEN) == "on 5 November 2026 from 09:03:02 to 09:03:02 UTC"
    assert format_span(WHEN, later) == (
        "from 5 November 2026, 09:03:02, to 6 November 2026, 10:00:00 UTC"
    )
