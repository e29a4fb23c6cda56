"""Examples: short, in plain values, with everything that is needed to find them again."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.insight.backtest.comparison import Difference
from amplifier_hooks.insight.backtest.example import LONGEST, describe_difference, list_changes
from amplifier_hooks.insight.backtest.gap import Gap, Looks
from amplifier_hooks.insight.backtest.verdict import Verdict
from amplifier_hooks.trails import RecordedEvent


def test_an_example_names_its_place_and_shortens_what_it_is_about() -> None:
    """A megabyte of input is not repeated."""
    data = {"tool_name": "Write", "tool_input": {"text": "x" * 10_000}}
    event = RecordedEvent(
        sequence=7, time="t", session="s", turn=1, event="tool:pre", data=data, left=data
    )
    was, would = Verdict("continue", data), Verdict("deny", data, "guard", "no")
    told = describe_difference(
        Path("trail"), event, was, would, Difference("newly_denied", "guard")
    )
    assert (told["trail"], told["sequence"], told["tool"]) == ("trail", 7, "Write")
    assert len(told["about"]) == LONGEST + 1
    assert told["would"] == {"action": "deny", "hook": "guard", "reason": "no", "asks": []}
    assert json.loads(json.dumps(told)) == told


def test_changes_are_told_field_by_field() -> None:
    """What came, what went, and what only a trail without the value could tell."""
    gap = Gap("text", "redacted", Looks())
    was = {"a": {"b": 1, "old": "x", "text": gap}, "same": [1]}
    would = {"a": {"b": 2, "new": "y", "text": "z"}, "same": [1]}
    assert list_changes(was, would) == [
        {"field": "a.b", "was": "1", "would": "2"},
        {"field": "a.old", "was": "x", "would": ""},
        {"field": "a.text", "was": "[not in the trail: redacted]", "would": "z"},
        {"field": "a.new", "was": "", "would": "y"},
    ]
