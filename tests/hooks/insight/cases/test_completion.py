"""Completing the data of an event."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from amplifier_core.events import ALL_EVENTS, payload_type
from amplifier_hooks.insight.cases.completion import complete_data


def test_what_a_case_leaves_out_is_taken_from_an_ordinary_call() -> None:
    """Also inside the input and the result of the tool."""
    data = complete_data("tool:post", {"tool_input": {"file_path": ".env"}})
    assert data["tool_name"] == "Write"
    assert data["tool_input"] == {"file_path": ".env", "content": "hello\n"}
    shown = complete_data("tool:post", {"tool_result": {"output": "x"}})["tool_result"]
    assert shown == {"success": True, "output": "x", "error": None}


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ({"tool_input": {"command": "ls"}}, ("Bash", {"command": "ls"})),
        ({"tool_name": "Bash"}, ("Bash", {"command": "ls -l"})),
        ({"tool_name": "Mine"}, ("Mine", {})),
        ({"tool_name": "Mine", "tool_input": {"x": 1}}, ("Mine", {"x": 1})),
        ({"tool_name": "Bash", "tool_input": "odd"}, ("Bash", "odd")),
    ],
)
def test_tool_and_input_belong_together(given: dict[str, object], call: object) -> None:
    """A call of Bash with the input of Write would be none that an agent makes."""
    data = complete_data("tool:pre", given)
    assert (data["tool_name"], data["tool_input"]) == call


def test_every_event_gets_its_fields() -> None:
    """Except those that the session and the kernel add themselves."""
    added = {"timestamp", "session_id", "parent_id", "judged_again", "denied_by"}
    for event in ALL_EVENTS:
        data = complete_data(event, {"mine": 1})
        assert data.keys() == (get_type_hints(payload_type(event)).keys() - added) | {"mine"}


def test_the_event_of_a_module_has_what_the_case_says() -> None:
    """Nobody knows its fields."""
    assert complete_data("deploy:done", {"place": "x"}) == {"place": "x"}
