"""What calls of our own tools cannot have in them."""

from __future__ import annotations

from amplifier_foundation.rule_checks.tool_inputs import lack_keys, list_tool_inputs


def test_our_tools_are_known_by_the_models_of_their_inputs() -> None:
    """The table is read from the tools themselves, so that it cannot go stale."""
    inputs = list_tool_inputs()
    assert "command" in inputs["bash"]
    assert {"file_path", "old_string"} <= inputs["multiedit"]


def test_a_tool_of_others_may_have_anything() -> None:
    """Only tools of ours lack something; letter case makes no difference."""
    assert lack_keys(["write", "Read"], ["command"])
    assert lack_keys(["Bash"], ["file_path", "path"])
    assert not lack_keys(["Bash"], ["command"])
    assert not lack_keys(["mcp__git__push"], ["command"])
    assert not lack_keys(["W*"], ["command"])
    assert not lack_keys([], ["command"])
