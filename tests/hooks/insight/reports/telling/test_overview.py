"""The top of a report on several sessions."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.overview import tell_overview
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import (
    answer,
    call,
    end,
    gather,
    prompt,
    report_on,
)


def run_session(first: float) -> object:
    denial = answer("guard", "deny", reason="no")
    return gather(
        prompt(first, "go"), call(first + 1, "Bash", {}, denial), end(first + 2), folder="/home/ann"
    )


def test_totals_days_hooks_and_sessions_are_told() -> None:
    """In sentences and tables."""
    report = report_on(*(run_session(n * 10) for n in range(3)), chapters=2)  # type: ignore[arg-type]
    words = read_words(tell_overview(report))
    assert "3 sessions ran on 15 November 2026" in words
    assert "in /home/ann. In 3 turns, agents called tools 3 times: Bash 3." in words
    assert "3\ndenied" in words
    assert "2026-11-15\n3\n3\n3\n0\n0\n0" in words
    assert "guard\n3\n3" in words


def test_what_was_left_out_is_said() -> None:
    """Which sessions have no chapter, and how to get one."""
    report = report_on(*(run_session(n * 10) for n in range(3)), chapters=2)  # type: ignore[arg-type]
    words = read_words(tell_overview(report))
    assert "The newest 2 have a chapter below; 1 older one without." in words
