"""What every event of Copilot CLI has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.copilot import DIALECT
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from tests.hooks.coding_agents.dialects.conversation import Data, make_call


@pytest.mark.parametrize("stamp", [None, "", "yesterday", 7])
def test_a_time_that_is_none_is_the_beginning_of_time(stamp: Any) -> None:
    """A number in any case."""
    assert DIALECT.build_payload(make_call("agentStop", {"timestamp": stamp}))["timestamp"] == 0


@pytest.mark.parametrize("form", ["copilot", "copilot-claude"])
def test_scripts_find_the_project_in_their_environment(form: str) -> None:
    """Under both names, and whose hook they are, in both spellings."""
    assert DIALECTS[form].build_environment(make_call("x")) == {
        "COPILOT_CLI": "1",
        "COPILOT_PROJECT_DIR": "/project",
        "CLAUDE_PROJECT_DIR": "/project",
    }


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ("no", {"type": "Error", "message": "no"}),
        ({"name": "TypeError", "message": "no"}, {"type": "TypeError", "message": "no"}),
        (None, {"type": "Error", "message": ""}),
    ],
)
def test_an_error_is_told_as_a_text_or_as_an_object(told: Any, error: Data) -> None:
    """Both are in use."""
    payload = {"sessionId": "s", "cwd": "/", "error": told}
    incoming = read_payload(DIALECT, "errorOccurred", json.dumps(payload))
    assert incoming.data == {"error": error}
