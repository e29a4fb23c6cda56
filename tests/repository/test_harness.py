"""The benchmark harness measures ratios and marks missed goals."""

from __future__ import annotations

import json

import pytest

from benchmarks.harness import Row, calls_of, compare, loop_of, report, table


async def bare() -> None:
    """The cheapest thing to await."""


async def ten_times() -> None:
    for _ in range(10):
        await bare()


def test_a_ratio_is_measured_in_the_same_run():
    """Ten awaits cost more than one, however busy the machine is."""
    row = compare("ten awaits", loop_of(bare), loop_of(ten_times), at_most=1000, rounds=20)
    assert row.ratio > 2
    assert row.subject_us > row.baseline_us
    assert not row.missed


def test_plain_functions_are_measured_too():
    row = compare("a call", calls_of(dict), calls_of(dict), rounds=20)
    assert row.ratio == pytest.approx(1, abs=0.5)


def test_a_missed_goal_is_marked():
    """Exit code 0 always, but missed goals are marked clearly."""
    rows = [Row("slow", 3.0, 2.0, 1.0, 3.0), Row("fast", 1.0, 2.0, 1.0, 1.0)]
    slow, fast = table("emit", rows).splitlines()[2:4]
    assert "MISSED" in slow
    assert "MISSED" not in fast
    assert "1 of 2 goals met" in table("emit", rows)


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]):
    report("emit", [Row("fast", 1.0, None, 1.0, 1.0)], argv=["--json"])
    assert json.loads(capsys.readouterr().out)["rows"][0]["what"] == "fast"
