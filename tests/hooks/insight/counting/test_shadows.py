"""Shadows: what would have happened, with the latest cases of it."""

from __future__ import annotations

from typing import Any

from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.counting.shadows import MOST_HOOKS, Shadows
from amplifier_hooks.trails import Note, RecordedEvent
from tests.support.bodies import make_body

PLACE: dict[str, Any] = {"time": "2026-11-17T09:00:00Z", "session": "s", "turn": 1}


def make_event(sequence: int, hook: str = "h", **tool_input: Any) -> RecordedEvent:
    data = {"tool_name": "Bash", "tool_input": tool_input}
    answers = (HookAnswer(hook, 1, "continue", shadowed="deny"),)
    place = {**PLACE, "sequence": sequence, "event": "tool:pre"}
    return RecordedEvent(**place, data=data, left=data, answers=answers)


def make_note(sequence: int, **body: Any) -> Note:
    place = {**PLACE, "sequence": sequence, "event": "tool:pre"}
    return Note(**place, hook="h", body=make_body("shadowed", body))


def test_the_latest_cases_are_kept_with_what_would_have_been() -> None:
    """No more than wanted; what a call was about in one line."""
    shadows = Shadows(most=2)
    for number in range(3):
        shadows.take(make_event(2 * number, command=f"rm {number}\nmore"))
        shadows.take(make_note(2 * number + 1, action="deny", would=f"would deny {number}"))
    kept = shadows.examples["h"]["deny"]
    assert [(one.about, one.would) for one in kept] == [
        ("rm 1", "would deny 1"),
        ("rm 2", "would deny 2"),
    ]
    assert kept[0].to_dict()["sequence"] == 2


def test_a_trail_of_decisions_has_cases_too() -> None:
    """From the note alone."""
    shadows = Shadows()
    shadows.take(make_note(1, action="ask_user", would="would have asked"))
    (one,) = shadows.examples["h"]["ask_user"]
    assert (one.event, one.would) == ("tool:pre", "would have asked")


def test_cases_of_made_up_names_do_not_fill_the_memory() -> None:
    """Beyond a number of hooks no more cases are kept."""
    shadows = Shadows()
    for number in range(MOST_HOOKS + 5):
        shadows.take(make_event(number, f"hook {number}", file_path="a"))
    assert len(shadows.examples) == MOST_HOOKS
