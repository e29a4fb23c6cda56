"""From where to where tools ran."""

from __future__ import annotations

from amplifier_hooks.insight.replay.spans import Spans
from tests.hooks.insight.replay.items import call, event, question

ITEMS = [
    call("started", 1, "outer"),
    event("tool:pre", 2, tool_call_id="inner"),
    call("started", 3, "inner"),
    event("tool:pre", 4, tool_call_id="beside"),
    call("started", 5, "beside"),
    call("finished", 6, "inner"),
    event("tool:pre", 7, tool_call_id="denied"),
    call("finished", 8, "outer"),
    call("finished", 9, "beside"),
    call("started", 10, "hangs"),
    event("tool:pre", 11, tool_call_id="later"),
]


def test_a_call_that_is_over_before_another_ends_is_part_of_it() -> None:
    """One that goes on is not, and nothing is part of a call that never ended."""
    spans = Spans(ITEMS)
    told = [one for one in ITEMS if one.event == "tool:pre" and hasattr(one, "data")]
    parts = [one.data["tool_call_id"] for one in told if spans.is_part(one)]
    assert parts == ["inner", "denied"]


def test_other_events_are_inside_where_they_happened() -> None:
    """Between two records."""
    spans = Spans(ITEMS)
    assert spans.is_inside(event("artifact:read", 4), (3, 6))
    assert not spans.is_inside(event("artifact:read", 7), (3, 6))
    assert not spans.is_part(event("artifact:read", 12))


def test_an_id_that_is_used_again_is_another_call() -> None:
    """Each has its own end; one that nobody knows is none."""
    items = [
        call("started", 1, "a"),
        call("finished", 2, "a"),
        call("started", 4, "a"),
        call("finished", 6, "a", outcome="unknown"),
    ]
    spans = Spans(items)
    assert spans.is_part(event("x:y", 1)) is False
    assert not spans.is_part(event("x:y", 5))


def test_a_call_that_was_asked_about_and_never_ran_ends_with_the_question() -> None:
    """If another call ended first, it was made beside that one, and not by it."""
    items = [
        call("started", 1, "other"),
        event("tool:pre", 2, tool_call_id="c"),
        question("requested", 3),
        call("finished", 4, "other"),
        question("cancelled", 5, call_id=""),
    ]
    assert not Spans(items).is_part(items[1])
    assert not Spans(items[:4]).is_part(items[1])
    answered = [*items[:3], question("decided", 4, call_id=""), call("finished", 5, "other")]
    assert Spans(answered).is_part(items[1])
