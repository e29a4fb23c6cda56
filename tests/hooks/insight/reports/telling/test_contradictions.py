"""A report begins with what was denied and ran all the same."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.reports.excerpts import Kept
from amplifier_hooks.insight.reports.model import Contradiction
from amplifier_hooks.insight.reports.rendering.report import Format, render_report
from amplifier_hooks.insight.reports.telling.contradictions import tell_contradictions
from amplifier_hooks.insight.reports.telling.report import tell_report
from amplifier_hooks.trails import Note
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import answer, call, gather, place, prompt, report_on
from tests.support.bodies import make_body


def keep(count: int = 1, **more: object) -> Kept[Contradiction]:
    kept: Kept[Contradiction] = Kept(2)
    fields = {
        "time": "2026-11-15T09:00:00Z",
        "turn": 1,
        "session": "s1",
        "hook": "guard",
        "tool": "Bash",
        "id": "c1",
        "about": "rm x",
        "reason": "never",
        "agent": "claude",
        "shown": "result",
        "success": True,
        **more,
    }
    for _ in range(count):
        kept.add(Contradiction(**fields))  # type: ignore[arg-type]
    return kept


def test_each_says_what_who_denied_it_and_who_shows_it() -> None:
    """Nothing is said if there is none."""
    words = read_words(tell_contradictions(keep()))
    assert "1 call that hooks denied ran all the same." in words
    assert "Bash rm x, denied by guard (never): claude reports that it succeeded" in words
    assert "session" not in words.split("\n", 2)[-1]
    assert list(tell_contradictions(keep(0))) == []


def test_of_many_some_are_left_out_and_counted() -> None:
    """With the session, where there are several; one that failed has run as well."""
    kept = keep(5, success=False, hook="", agent="claude")
    words = read_words(tell_contradictions(kept, {"s1": "s1-short"}))
    assert "5 calls that hooks denied ran all the same." in words
    assert "in session s1-short" in words
    assert "denied (never): claude reports that it failed" in words
    assert "3 more" in words


@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_every_format_begins_with_it(format: Format) -> None:
    """Before anything else that a report says."""
    denied = call(2, "Bash", {"command": "rm x"}, answer("guard", "deny", reason="no"))
    body = {"tool": "Bash", "id": "c1", "agent": "claude", "shown": "result", "success": True}
    note = Note(**place(3, "tool:post"), hook="guard", body=make_body("denial_contradicted", body))
    report = report_on(gather(prompt(1, "go"), denied, note))
    text = render_report(report, format)
    first = text.index("contradictions" if format == "json" else "ran all the same")
    assert first < text.index('"made"' if format == "json" else "The session")
    assert first < text.index("guard")
    document = tell_report(report)
    assert "ran all the same" in read_words(document.blocks[1:2])
