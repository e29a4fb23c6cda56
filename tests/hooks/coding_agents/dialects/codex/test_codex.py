"""Codex CLI as a whole."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects.codex import DIALECT


@pytest.mark.parametrize(
    ("native", "seconds"), [("PreToolUse", 600.0), ("SessionEnd", 1.0), ("Interrupt", 1.0)]
)
def test_an_event_has_the_time_that_the_program_gives_it(native: str, seconds: float) -> None:
    """An end waits for nobody."""
    assert DIALECT.get_timeout(native) == seconds


def test_a_sub_agent_is_spawned_by_a_tool_of_another_name() -> None:
    """With other names of its fields."""
    assert DIALECT.recognize_tool("spawn_agent") == "Delegate"
    assert DIALECT.translate_tool("Delegate") == "spawn_agent"
    task = {"agent_name": "sub", "task": "Do it"}
    theirs = {"task_name": "sub", "message": "Do it"}
    assert DIALECT.translate_input("Delegate", task) == theirs
    assert DIALECT.recognize_input("Delegate", theirs) == task
