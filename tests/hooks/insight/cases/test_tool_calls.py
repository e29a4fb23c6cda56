"""Calls of tools."""

from __future__ import annotations

from amplifier_hooks.insight.cases.tool_calls import CALLS, TYPICAL, choose_tool, describe_call


def test_the_keys_of_an_input_tell_its_tool() -> None:
    """As far as they do."""
    assert choose_tool({"command": "ls"}) == "Bash"
    assert choose_tool({"file_path": "a", "old_string": "b"}) == "Edit"
    assert choose_tool({"file_path": "a"}) == choose_tool({"unknown": 1}) == "Write"


def test_a_call_in_short_names_what_it_is_about() -> None:
    """Each of the sample calls differs from the others."""
    assert describe_call("Bash", {"command": "ls"}) == "Bash: ls"
    assert describe_call("Mine", {"x": 1}) == describe_call("Mine", None) == "Mine"
    assert len({describe_call(*call) for call in CALLS}) == len(CALLS)
    assert all(given.keys() <= TYPICAL[tool].keys() for tool, given in CALLS)
