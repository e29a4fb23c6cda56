"""The time of a report."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.reports.figures.period import Period


@pytest.mark.parametrize(
    ("period", "holds"),
    [
        (Period(), True),
        (Period(since="2026-11-15"), True),
        (Period(since="2026-11-16"), False),
        (Period(until="2026-11-15T09:00:01"), True),
        (Period(until="2026-11-15"), False),
    ],
)
def test_a_period_holds_its_beginning_and_not_its_end(period: Period, holds: bool) -> None:
    """Beginnings of times are compared as texts."""
    assert period.holds("2026-11-15T09:00:00.5Z") is holds


def test_a_period_without_bounds_is_none() -> None:
    """Nothing has to be left out then."""
    assert not Period()
    assert Period(since="2026")
