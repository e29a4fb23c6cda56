"""The answer of an agent in the events of a run."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types

from amplifier_hooks.frameworks.google_adk.messages import change_answer, read_answer


def make_event(*parts: types.Part, **more: Any) -> Event:
    """An event of an agent."""
    content = types.Content(role="model", parts=list(parts))
    return Event(author=more.pop("author", "agent"), content=content, **more)


CALL = types.Part(function_call=types.FunctionCall(name="note", args={}))


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (make_event(types.Part(text="Done.")), "Done."),
        (make_event(types.Part(text="Do"), partial=True), ""),
        (make_event(types.Part(text="I note it."), CALL), ""),
        (make_event(types.Part(text="Do it."), author="user"), ""),
        (Event(author="agent"), ""),
    ],
)
def test_only_what_ends_a_turn_is_an_answer(event: Event, text: str) -> None:
    """Not pieces of a stream, not what is said before a call, not what the user said."""
    assert read_answer(event) == text


def test_another_answer_is_everywhere() -> None:
    """Also where the framework keeps it for the next agent; all else stays."""
    actions = EventActions(state_delta={"said": "Done.", "count": 1})
    event = make_event(types.Part(text="Done."), actions=actions)
    changed = change_answer(event, "Done.", "Nearly.")
    assert changed.content.parts[0].text == "Nearly."
    assert changed.actions.state_delta == {"said": "Nearly.", "count": 1}
    assert event.actions.state_delta["said"] == "Done."
    assert changed.id == event.id
