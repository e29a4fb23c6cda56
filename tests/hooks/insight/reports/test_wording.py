"""Times, durations and numbers in words."""

from __future__ import annotations

from collections import Counter

import pytest

from amplifier_hooks.insight.reports.document import (
    describe_left_out,
    format_clock,
    format_count,
    format_date,
    format_milliseconds,
    format_minute,
    format_money,
    format_seconds,
    format_span,
    format_times,
    join_words,
    list_counts,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0, "0 s"),
        (0.001, "less than 0.01 s"),
        (1.14, "1.1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (7_260, "2 h 1 min"),
        (200_000, "2 d 7 h"),
    ],
)
def test_durations_are_short(seconds: float | None, words: str) -> None:
    """Two units at most."""
    assert format_seconds(seconds) == words


@pytest.mark.parametrize(
    ("ms", "words"), [(None, ""), (0.054, "0.054 ms"), (310.2, "310 ms"), (2_000, "2 s")]
)
def test_short_durations_are_in_milliseconds(ms: float | None, words: str) -> None:
    """Until they are long."""
    assert format_milliseconds(ms) == words


def test_counts_have_the_right_noun() -> None:
    """The smallest share one name, zeros are not listed; small amounts are not rounded away."""
    assert (format_count(1, "call"), format_count(1_200, "call")) == ("1 call", "1,200 calls")
    assert [format_times(one) for one in (1, 2, 3)] == ["once", "twice", "3 times"]
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert join_words(["a"]) == "a"
    assert [*describe_left_out(0, "turn")] == []
    assert [*describe_left_out(2, "turn")] == ["2 turns are left out here."]
    counts = Counter({"a": 9, "b": 5, "c": 2, "d": 1, "e": 0})
    assert list_counts(counts, 2) == [("a", 9), ("b", 5), ("others", 3)]
    assert [format_money(one) for one in (0, 0.0031, 1234.5)] == ["$0.00", "$0.0031", "$1,234.50"]


WHEN = "2026-11-05T09:03:02.661644914Z"


def test_times_are_as_people_write_them() -> None:
    """A text that is no time stays, up to a length; a span of one day names it once."""
    assert format_clock(WHEN) == "09:03:02"
    assert format_date(WHEN) == "5 November 2026"
    assert format_minute(WHEN) == "2026-11-05 09:03"
    assert format_clock("<b>" * 40) == ("<b>" * 40)[:40]
    later = "2026-11-06T10:00:00Z"
    assert format_span(WHEN, WHEN) == "on 5 November 2026 from 09:03:02 to 09:03:02 UTC"
    assert format_span(WHEN, later) == (
        "from 5 November 2026, 09:03:02, to 6 November 2026, 10:00:00 UTC"
    )
