"""Reports on several sessions."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.report import make_row
from amplifier_hooks.insight.reports.figures.session import SessionFigures
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    call,
    decide,
    end,
    gather,
    prompt,
    report_on,
    respond,
)


def run_session(first: float) -> SessionFigures:
    """A session that begins so many seconds after nine."""
    return gather(
        prompt(first, "go"),
        respond(first + 1, "claude-sonnet-4", input_tokens=10, output_tokens=1),
        call(first + 2, "Bash", {"command": "rm"}, answer("guard", "deny", reason="no")),
        ask(first + 3),
        decide(first + 8, True),
        end(first + 9),
        folder="/home/ann",
    )


def test_totals_are_the_sum_of_all_sessions() -> None:
    """Also of those that get no chapter."""
    report = report_on(run_session(0), run_session(100), run_session(200), chapters=1)
    totals = report.totals
    assert (totals.sessions, totals.turns, totals.calls["denied"]) == (3, 3, 3)
    assert (totals.questions["asked"], totals.questions["allowed"], totals.waited) == (3, 3, 15.0)
    assert totals.interventions["denial"] == 3
    assert totals.hooks["guard"].counts.calls == 3
    assert totals.spending.models["claude-sonnet-4"].tokens == 33
    (day,) = totals.days.values()
    assert (day.sessions, day.denied, day.asked, day.calls, day.tokens) == (3, 3, 3, 3, 33)
    assert totals.first < totals.last


def test_the_newest_sessions_come_first_and_get_the_chapters() -> None:
    """In whichever order the trails were read."""
    report = report_on(run_session(100), run_session(200), run_session(0), chapters=2)
    starts = [row.first for row in report.rows]
    assert starts == sorted(starts, reverse=True)
    assert len(starts) == 3
    assert [one.first for one in report.chapters] == starts[:2]


def test_a_row_says_how_a_session_went() -> None:
    """The figures of the table of sessions."""
    row = make_row(run_session(0))
    assert (row.denied, row.asked, row.calls, row.tokens, row.ending) == (1, 1, 1, 11, "complete")
