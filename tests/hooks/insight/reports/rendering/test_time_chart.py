"""The line of time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.rendering.time_chart import draw_timeline, lay_out
from amplifier_hooks.insight.reports.telling.document import Lane, Timeline

span = st.tuples(st.floats(0, 1e6), st.floats(0, 1e4)).map(lambda one: (one[0], one[0] + one[1]))


def test_a_long_pause_takes_little_room() -> None:
    """Two minutes of work on two days are both visible."""
    first, second = lay_out([(0.0, 60.0), (86_400.0, 86_460.0)])
    assert abs((first.right - first.left) - (second.right - second.left)) < 0.1
    assert second.left - first.right < 40


def test_short_pauses_stay_in_proportion() -> None:
    """They are no reason to break the line."""
    assert len(lay_out([(0.0, 10.0), (11.0, 20.0)])) == 1


@settings(max_examples=20, deadline=None)
@given(st.lists(span, min_size=1, max_size=30))
def test_every_picture_stays_within_its_frame(spans: list[tuple[float, float]]) -> None:
    """Whatever the times are, and in order."""
    stretches = lay_out(spans)
    assert all(130 <= one.left <= one.right <= 720 for one in stretches)
    assert all(before.right < after.left for before, after in pairwise(stretches))
    drawn = draw_timeline(Timeline("Time", (Lane("Tools", "good", tuple(sorted(spans))),)))
    assert "nan" not in drawn


def test_many_marks_become_few() -> None:
    """A lane with ten thousand calls is a picture of a few kilobytes."""
    spans = tuple((float(one), one + 0.5) for one in range(10_000))
    assert draw_timeline(Timeline("Time", (Lane("Tools", "good", spans),))).count("<rect") < 510


def test_points_are_visible_and_pauses_are_told() -> None:
    """A denial has no length."""
    lanes = (
        Lane("Denied", "bad", ((5.0, 5.0),)),
        Lane("Tools", "good", ((0.0, 6.0), (9e5, 9e5 + 6))),
    )
    drawn = draw_timeline(Timeline("Time", lanes, "a note"))
    assert 'width="2.5"' in drawn
    assert "10 d 9 h without anything" in drawn
    assert "a note" in drawn
