"""A whole report."""

from __future__ import annotations

from amplifier_hooks.insight.reports.model import Period
from amplifier_hooks.insight.reports.telling.document import Chapter
from amplifier_hooks.insight.reports.telling.report import tell_report
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import gather, prompt, report_on


def test_one_session_is_its_own_report() -> None:
    """Without an overview; its title is its id."""
    document = tell_report(report_on(gather(prompt(1, "go"))))
    assert document.title == "Session 3f0c1a2b"
    assert not any(isinstance(block, Chapter) for block in document.blocks)


def test_several_sessions_have_chapters() -> None:
    """Behind the overview."""
    document = tell_report(report_on(gather(prompt(1, "a")), gather(prompt(2, "b"))))
    assert document.title == "2 sessions"
    assert sum(isinstance(block, Chapter) for block in document.blocks) == 2


def test_what_could_not_be_read_and_the_period_are_named() -> None:
    """A reader must know what is not in it."""
    report = report_on()
    report.unreadable.append(("some/trail", "no records"))
    report.empty = 2
    report.period = Period("2026-11-01", "2026-11-02")
    words = read_words(tell_report(report).blocks)
    assert "some/trail: no records" in words
    assert "2 trails had nothing in the chosen time" in words
    assert "from 2026-11-01 on" in words
    assert "before 2026-11-02" in words
    assert "There is nothing to report." in words
