"""Days."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.day import Day


def test_days_add_up() -> None:
    """Every figure of a day is added."""
    day = Day(1, 2, 3, 4, 5, 6)
    day.add(Day(10, 20, 30, 40, 50, 60))
    assert day == Day(11, 22, 33, 44, 55, 66)
