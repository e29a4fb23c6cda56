"""The protocols of modules, and what a module sees of its host."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.interfaces import (
    ContextManager,
    HookHandler,
    Host,
    Orchestrator,
    Provider,
    Tool,
    hook,
)
from amplifier_core.models import ToolResult
from amplifier_core.testing import (
    EventRecorder,
    MockContextManager,
    MockProvider,
    MockTool,
    ScriptedOrchestrator,
)


def test_a_coordinator_is_a_host() -> None:
    """What `mount` is given is checked by mypy against what the coordinator has."""
    host: Host = SessionCoordinator()
    assert host.hooks.list_handlers() == {}


@pytest.mark.parametrize(
    ("double", "protocol"),
    [
        (MockProvider(), Provider),
        (MockContextManager(), ContextManager),
        (EventRecorder(), HookHandler),
    ],
)
def test_no_base_class_is_needed(double: Any, protocol: Any) -> None:
    """Whatever has the methods is one; whatever lacks them is not."""
    assert isinstance(double, protocol)
    assert not isinstance(object(), protocol)


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


async def mark_me(event: str, data: dict[str, Any]) -> None:
    """A handler below a bare `@hook`."""


@pytest.mark.parametrize(
    ("events", "given"),
    [
        ((), "nothing"),
        ((7,), "7"),
        (("tool:pre", None), "'tool:pre', None"),
        ((mark_me,), "mark_me"),
    ],
)
def test_a_mark_needs_the_names_of_events(events: tuple[Any, ...], given: str) -> None:
    """`@hook` without brackets is the usual slip."""
    with pytest.raises(TypeError) as caught:
        hook(*events)
    needed = "@hook needs the names of events, as in @hook('tool:pre'), got"
    assert str(caught.value) == f"{needed} {given}"
