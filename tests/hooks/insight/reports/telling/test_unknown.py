"""What is not known."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.unknown import tell_unknown
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import ask, event, gather, run


def test_what_the_trail_lacks_is_listed_with_the_reason() -> None:
    """Where, why, and how often."""
    session = gather(
        event(1, "tool:pre", {}, missing={"tool_input": "redacted"}, masked=("tool_name",)),
        event(2, "tool:pre", {}, missing={"tool_input": "redacted"}),
        ask(3),
        run(4, "Bash", {})[:2],
    )
    words = read_words(tell_unknown(session))
    assert "2 values are not in the trail (redacted): tool:pre tool_input." in words
    assert "Secrets were masked once, in tool:pre tool_name." in words
    assert "How 1 call ended" in words
    assert "What became of 1 question." in words


def test_records_that_were_left_out_are_counted() -> None:
    """They stand behind the end that was verified."""
    session = gather()
    session.gaps.unverified = 2
    assert "2 records behind the end" in read_words(tell_unknown(session))


def test_trails_that_hold_little_explain_themselves() -> None:
    """Decisions alone, or commitments instead of values."""
    assert "decisions alone" in read_words(tell_unknown(gather(level="decisions")))
    assert "commitments" in read_words(tell_unknown(gather(values="committed")))


def test_many_places_are_counted() -> None:
    """Eight are named."""
    missing = {f"field{number:02}": "redacted" for number in range(20)}
    words = read_words(tell_unknown(gather(event(1, "tool:pre", {}, missing=missing))))
    assert "and 12 other places" in words
