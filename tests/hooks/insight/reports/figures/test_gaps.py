"""What is missing in a trail."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.gaps import Gaps
from tests.hooks.insight.reports.stories import event


def test_missing_and_masked_values_are_counted_by_place() -> None:
    """Each with the reason; what trails never repeat is not missed."""
    gaps = Gaps()
    missing = {"tool_input.content": "redacted", "messages": "trails do not repeat it"}
    for second in (1, 2):
        gaps.take(event(second, "tool:pre", {}, missing=missing, masked=("tool_input.key",)))
    assert gaps.missing == {("redacted", "tool:pre tool_input.content"): 2}
    assert gaps.masked == {"tool:pre tool_input.key": 2}


def test_places_have_a_bound() -> None:
    """A trail with a million paths is told in a page."""
    gaps = Gaps()
    for number in range(500):
        gaps.take(event(1, "tool:pre", {}, missing={f"a{number}": "redacted"}))
    assert len(gaps.missing) <= 51
    assert gaps.missing.total() == 500
