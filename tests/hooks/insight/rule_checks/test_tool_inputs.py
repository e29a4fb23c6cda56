"""What calls of our own tools cannot have in them."""

from __future__ import annotations

from amplifier_hooks.insight.rule_checks.tool_inputs import (
    explain_unknown,
    lack_keys,
    list_tool_inputs,
)


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


def test_a_tool_that_no_agent_has_is_said() -> None:
    """With the one that was probably meant; patterns and tools of MCP servers may be anything."""
    assert "'Bsh'" in explain_unknown(["Bash", "Bsh"])
    assert explain_unknown(["Bsh"]).endswith("did you mean 'Bash'?")
    assert explain_unknown(["deploy_to_mars"]).endswith("only if you have such a tool")
    assert not explain_unknown(["bash", "run_shell_command", "WebFetch", "NotebookEdit"])
    assert not explain_unknown(["mcp__git__push", "B*", "*"])
