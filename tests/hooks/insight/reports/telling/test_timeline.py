"""The time line."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.document import Timeline
from amplifier_hooks.insight.reports.telling.timeline import tell_timeline
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import gather, tell_whole_story


def test_every_kind_of_thing_has_a_lane() -> None:
    """Turns, models, tools, waits and denials."""
    (chart,) = tell_timeline(tell_whole_story())
    assert isinstance(chart, Timeline)
    titles = [lane.title for lane in chart.lanes]
    assert titles == ["Turns", "Model", "Tools", "Waiting for people", "Denied"]
    assert all(lane.spans for lane in chart.lanes)


def test_without_anything_that_takes_time_there_is_no_chart() -> None:
    """But a sentence."""
    assert "nothing that takes time" in read_words(tell_timeline(gather()))
