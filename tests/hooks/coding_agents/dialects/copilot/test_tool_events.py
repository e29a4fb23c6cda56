"""Copilot CLI's events that are about tools."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.coding_agents.dialects.copilot import DIALECT
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import TOOL, make_call
from tests.hooks.coding_agents.dialects.recordings import load_recording, read_recording


def test_a_result_that_is_no_text_is_written_as_json() -> None:
    """The model would read it so."""
    data = {**TOOL, "tool_result": {"success": True, "output": {"lines": 3}}}
    result = DIALECT.build_payload(make_call("postToolUse", data))["toolResult"]
    assert result["textResultForLlm"] == '{"lines": 3}'


def test_a_result_that_is_no_success_is_none_of_ours_either() -> None:
    """Copilot has three words for that."""
    result = {"resultType": "denied", "textResultForLlm": "no"}
    data = read_recording("copilot", "postToolUse", toolResult=result).data
    error = {"type": "denied", "message": "no"}
    assert data["tool_result"] == {"success": False, "output": "no", "error": error}


def test_a_call_without_arguments_is_not_one_whose_arguments_are_missing() -> None:
    """A program that calls them otherwise tomorrow must not pass unseen."""
    assert read_recording("copilot", "preToolUse", toolArgs=None).data["tool_input"] == {}
    payload = load_recording("copilot", "preToolUse")
    del payload["toolArgs"]
    with pytest.raises(UnreadablePayload):
        read_payload(DIALECT, "preToolUse", json.dumps(payload))
