"""The words by which a check tells its hook what to do."""

from __future__ import annotations

from amplifier_core.events import PROMPT_SUBMIT, TOOL_PRE
from amplifier_hooks.coding_agents.self_test.marker import find_case, write_command, write_mark


def test_a_case_is_found_where_it_was_written() -> None:
    """In a command, and in a prompt."""
    data = {"tool_input": {"command": write_command("deny", 3)}, "prompt": write_mark("other")}
    assert find_case(TOOL_PRE, data) == "deny"
    assert find_case(PROMPT_SUBMIT, data) == "other"


def test_other_events_have_no_case() -> None:
    """Also those that hold odd values."""
    assert find_case(TOOL_PRE, {"tool_input": {"command": "ls", "odd": object()}}) is None
    assert find_case(PROMPT_SUBMIT, {}) is None
