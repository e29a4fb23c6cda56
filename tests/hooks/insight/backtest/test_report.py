"""The report for machines."""

from __future__ import annotations

from amplifier_hooks.insight.backtest import Tally
from amplifier_hooks.insight.backtest.comparison import KINDS
from amplifier_hooks.insight.backtest.report import (
    count_days,
    find_failures,
    find_unknown_kinds,
    make_report,
)


def test_every_kind_of_difference_has_a_number() -> None:
    """A program need not ask whether a key is there."""
    tally = Tally(first="2026-11-01T", last="2026-11-04T", questions={"2026-11-02": [2, 6]})
    tally.count("newly_denied", "guard")
    report = make_report(tally, {"hooks-backup": "it writes files"})
    assert list(report["differences"]) == list(KINDS)
    assert report["differences"]["newly_denied"] == 1
    assert report["questions"]["would_per_day"] == 1.5
    assert report["not_run"] == [
        {"module": "hooks-backup", "why": "it writes files", "answers_taken_in": 0}
    ]
    assert find_failures(report, ("error", "newly_denied")) == ["newly_denied"]


def test_days_are_counted_with_both_ends() -> None:
    """Nothing at all is one day: nobody divides by zero."""
    assert count_days(Tally()) == 1
    assert count_days(Tally(first="2026-10-31T1", last="2026-11-02T2")) == 3
    assert find_unknown_kinds(["error", "denied"]) == ["denied"]
