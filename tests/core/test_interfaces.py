"""The protocols of modules, and what a module sees of its host."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.interfaces import (
    Orchestrator,
    Tool,
    hook,
)
from amplifier_core.models import ToolResult
from amplifier_core.testing import (
    MockTool,
    ScriptedOrchestrator,
)


@pytest.mark.parametrize("protocol", [Tool, Orchestrator])
def test_tools_and_loops_are_not_told_by_their_methods(protocol: Any) -> None:
    """Many things have an `execute`; what they are is said by where they are mounted."""
    with pytest.raises(TypeError, match="runtime"):
        isinstance(object(), protocol)


def test_the_doubles_fit_the_protocols() -> None:
    """For mypy, which compares the signatures."""
    tool: Tool = MockTool("t")
    loop: Orchestrator = ScriptedOrchestrator()
    assert (tool.name, callable(loop.execute)) == ("t", True)


def test_a_tool_that_inherits_has_a_schema_without_rules() -> None:
    """Not every tool takes an input."""

    class Ping(Tool):
        name = "ping"
        description = "Answers."

        async def execute(self, input: dict[str, Any]) -> ToolResult:
            return ToolResult(output="pong")

    assert Ping().input_schema == {}


def test_a_function_is_marked_and_stays_itself() -> None:
    """A bundle that names the file registers what is marked."""

    def guard(event: str, data: dict[str, Any]) -> None: ...

    assert hook("tool:pre", "tool:post", priority=5)(guard) is guard
    assert vars(guard)["__amplifier_hook__"] == {
        "events": ("tool:pre", "tool:post"),
        "options": {"priority": 5},
    }
