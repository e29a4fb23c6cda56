"""Claude Code as a whole."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects.claude import DIALECT


@pytest.mark.parametrize(
    ("native", "seconds"),
    [("PreToolUse", 600.0), ("UserPromptSubmit", 30.0), ("SessionEnd", 1.5)],
)
def test_an_event_has_the_time_that_the_program_gives_it(native: str, seconds: float) -> None:
    """The end of a session waits for nobody."""
    assert DIALECT.get_timeout(native) == seconds


@pytest.mark.parametrize("tool", ["Bash", "Read", "Write", "Edit", "Glob", "Grep"])
def test_tools_that_both_have_are_called_the_same(tool: str) -> None:
    """And so are the fields of their input."""
    assert DIALECT.recognize_tool(tool) == DIALECT.translate_tool(tool) == tool
    assert DIALECT.recognize_input(tool, {"file_path": "a"}) == {"file_path": "a"}
