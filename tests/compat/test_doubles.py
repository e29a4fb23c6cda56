"""The doubles that authors of modules test with."""

from __future__ import annotations

import inspect
from unittest.mock import AsyncMock

import amplifier_core
from amplifier_core import testing
from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import (
    EventRecorder,
    MockContextManager,
    MockCoordinator,
    MockTool,
    ScriptedOrchestrator,
    create_test_coordinator,
    wait_for,
)


def test_the_doubles_are_handed_out_by_the_package() -> None:
    """From the top level and from their home."""
    for name in (
        "MockCoordinator",
        "MockTool",
        "MockContextManager",
        "EventRecorder",
        "ScriptedOrchestrator",
        "create_test_coordinator",
        "wait_for",
    ):
        assert getattr(amplifier_core, name) is getattr(testing, name)
    assert hasattr(testing, "TestCoordinator")


async def test_a_coordinator_without_arguments() -> None:
    """It has a session id, somebody to ask and a screen, and remembers what was mounted."""
    coordinator = MockCoordinator()
    assert isinstance(coordinator, ModuleCoordinator)
    assert coordinator.session_id == "test-session"
    assert coordinator.approval_system is not None
    assert coordinator.display_system is not None
    tool = MockTool()
    await coordinator.mount("tools", tool, name="t")
    await coordinator.unmount("tools", name="t")
    assert coordinator.mount_history == [{"mount_point": "tools", "module": tool, "name": "t"}]
    assert coordinator.unmount_history == [{"mount_point": "tools", "name": "t"}]


async def test_a_tool_counts_its_calls() -> None:
    """And `execute` is a mock."""
    tool = MockTool()
    assert tool.name == "mock_tool"
    assert tool.call_count == 0
    result = await tool.execute({"a": 1})
    assert isinstance(result, ToolResult)
    assert (result.success, result.output) == (True, "Success")
    assert tool.call_count == 1
    assert isinstance(tool.execute, AsyncMock)
    tool.execute.assert_called_once_with({"a": 1})
    assert (await MockTool(name="n", output={"x": 1}).execute({})).output == {"x": 1}


async def test_a_context_is_mocks_over_its_messages() -> None:
    """Each can be asked how it was called."""
    message = {"role": "user", "content": "hi"}
    context = MockContextManager()
    assert context.messages == []
    await context.add_message(message)
    assert context.messages == [message]
    assert await context.get_messages() == [message]
    assert await context.get_messages_for_request(token_budget=1, provider=None) == [message]
    await context.clear()
    assert context.messages == []
    for name in ("add_message", "get_messages", "get_messages_for_request", "clear"):
        method = getattr(context, name)
        assert isinstance(method, AsyncMock)
        method.assert_awaited_once()
    assert MockContextManager(messages=[message]).messages == [message]


async def test_a_recorder_stands_in_for_a_registry() -> None:
    """`emit` is `record`; events are pairs."""
    recorder = EventRecorder()
    assert isinstance(await recorder.emit("a:b", {"n": 1}), HookResult)
    await recorder.record("c:d", {"n": 2})
    assert recorder.events == [("a:b", {"n": 1}), ("c:d", {"n": 2})]
    assert recorder.get_events("c:d") == [("c:d", {"n": 2})]
    assert recorder.get_events(event_type="a:b") == [("a:b", {"n": 1})]
    assert recorder.get_events() == recorder.events
    recorder.clear()
    assert recorder.events == []
    registry = HookRegistry()
    registry.register("e:f", recorder.record)
    await registry.emit("e:f", {})
    assert [name for name, _ in recorder.events] == ["e:f"]


async def test_a_scripted_orchestrator_answers_in_turn() -> None:
    """Then it is done; it emits on the hooks it is given."""
    loop, hooks = ScriptedOrchestrator(["one", "two"]), EventRecorder()
    replies = [
        await loop.execute(
            prompt="p", context=MockContextManager(), providers={}, tools={}, hooks=hooks
        )
        for _ in range(3)
    ]
    assert replies == ["one", "two", "DONE"]
    assert loop.call_count == 3
    assert len(hooks.get_events("session:start")) == len(hooks.get_events("session:end")) == 3


async def test_a_ready_made_coordinator() -> None:
    """Two tools and a context."""
    coordinator = create_test_coordinator()
    assert isinstance(coordinator, ModuleCoordinator)
    assert {"echo", "fail"} <= set(coordinator.get("tools"))
    assert coordinator.get("context") is not None
    assert (await coordinator.get("tools")["echo"].execute({})).success
    assert not (await coordinator.get("tools")["fail"].execute({})).success


async def test_waiting_says_whether_it_came_to_hold() -> None:
    """False on timeout, and no exception; one second unless told otherwise."""
    assert await wait_for(lambda: True) is True
    assert await wait_for(lambda: False, timeout=0.02) is False
    assert inspect.signature(wait_for).parameters["timeout"].default == 1.0
