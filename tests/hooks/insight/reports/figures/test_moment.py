"""Times and spans."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.moment import Spans, measure, read_seconds
from tests.hooks.insight.reports.stories import at


def test_times_are_read_with_and_without_a_zone() -> None:
    """Trails have nanoseconds and a Z; what is no time is none."""
    assert read_seconds("1970-01-01T00:00:01.500000000Z") == 1.5
    assert read_seconds("1970-01-01T00:00:01") == 1.0
    assert read_seconds("yesterday") is None


def test_swapped_times_have_no_duration() -> None:
    """A clock that was set back makes no negative wait."""
    assert measure(at(1), at(3)) == 2
    assert measure(at(3), at(1)) is None
    assert measure("", at(1)) is None


def test_many_spans_become_few_that_cover_the_same_time() -> None:
    """The closest ones are joined; first and last times stay."""
    spans = Spans(most=5)
    for number in range(40):
        spans.add(at(number), at(number + 0.5))
    spans.add("no time", at(3))
    found = [*spans]
    assert len(found) <= 10
    assert (found[0][0], found[-1][1]) == (read_seconds(at(0)), read_seconds(at(39.5)))
