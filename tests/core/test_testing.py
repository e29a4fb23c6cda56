"""The doubles behave like what they stand for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import amplifier_core
from amplifier_core.approval import ApprovalAnswer, ApprovalTimeout
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import (
    EventRecorder,
    MockContextManager,
    MockCoordinator,
    MockTool,
    RecordingDisplay,
    ScriptedApproval,
    ScriptedOrchestrator,
    TestCoordinator,
    create_test_coordinator,
    wait_for,
)


async def test_a_recorder_hears_answers_and_forgets() -> None:
    """It is a hook like any other, and can be asked what it heard."""
    registry, heard = HookRegistry(), EventRecorder(HookResult(action="deny", reason="no"))
    registry.register("tool:*", heard.record)
    result = await registry.emit("tool:pre", {"a": 1})
    assert result.action == "deny"
    assert [data["a"] for _, data in heard.get_events("tool:pre")] == [1]
    assert heard.get_events("tool:post") == []
    assert heard.names == ["tool:pre"]
    heard.clear()
    assert heard.get_events() == []


async def test_the_conversation_takes_both_forms() -> None:
    """MockContextManager."""
    context = MockContextManager([{"role": "system", "content": "s"}])
    await context.add_message("user", "a", {"k": 1})
    await context.add_message({"role": "assistant", "content": "b"})
    assert [one["content"] for one in context.get_messages()] == ["s", "a", "b"]
    assert len(await context.get_messages()) == 3
    await context.set_messages([])
    assert context.get_messages() == []
    await context.add_message("user", "c")
    await context.clear()
    assert context.get_messages() == []


@pytest.mark.parametrize(
    ("output", "expected"),
    [("x", "x"), (lambda given: given["a"], 1), (ToolResult(output=2), 2)],
)
async def test_a_tool_answers_as_told(output: Any, expected: Any) -> None:
    """MockTool: an output, or a function of its input."""
    tool = MockTool("t", output)
    assert (await tool.execute({"a": 1})).output == expected
    assert tool.calls == [{"a": 1}]


async def test_a_tool_can_raise() -> None:
    """MockTool: or an exception."""
    with pytest.raises(ValueError, match="no"):
        await MockTool("t", ValueError("no")).execute({})


async def test_a_person_answers_in_order_and_repeats_the_last_word() -> None:
    """ScriptedApproval, on the plain protocol too."""
    person = ScriptedApproval("Deny", lambda question: ApprovalAnswer(question.options[0]))
    answers = [await person.request_approval("?", ["Allow", "Deny"], 1, "deny") for _ in "123"]
    assert answers == ["Deny", "Allow", "Allow"]
    with pytest.raises(OSError, match="gone"):
        await ScriptedApproval(OSError("gone")).request_approval("?", [], 1, "deny")
    with pytest.raises(ApprovalTimeout):
        await ScriptedApproval().request_approval("?", [], 1, "deny")


async def test_the_coordinator_is_a_real_one() -> None:
    """TestCoordinator, MockCoordinator, create_test_coordinator."""
    board = create_test_coordinator(approval_system=ScriptedApproval("Allow"))
    assert isinstance(board, TestCoordinator)
    assert MockCoordinator is TestCoordinator
    says = HookResult(action="ask_user", approval_prompt="?", user_message="hm")
    board.hooks.register("tool:pre", EventRecorder(says))
    result = await board.execute_with_hooks("tool:pre", {"tool_name": "t", "tool_input": {}})
    assert result.action == "continue"
    assert result.data is not None
    assert result.data["session_id"] == "test-session"
    assert isinstance(board.screen, RecordingDisplay)
    assert board.screen.messages == [("hm", "info", "hook:EventRecorder")]
    assert board.recorded.of_type("approval_decided")


async def test_a_scripted_loop_calls_tools_through_the_hooks() -> None:
    """ScriptedOrchestrator, with and without a coordinator."""
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("*", heard)
    loop = ScriptedOrchestrator([("t", {"a": 1})], reply="bye")
    tools = {"t": MockTool("t", "ok")}
    assert await loop.execute("p", MockContextManager(), {}, tools, registry) == "bye"
    assert [one.output for one in loop.results] == ["ok"]
    assert heard.names == ["tool:pre", "tool:post", "orchestrator:complete"]
    board = TestCoordinator()
    assert await loop.execute("p", None, {}, tools, board.hooks, coordinator=board) == "bye"


async def test_waiting_ends_when_it_holds_or_when_time_is_up() -> None:
    """wait_for takes plain and async conditions."""
    done: list[int] = []
    asyncio.get_running_loop().call_later(0.02, done.append, 1)
    await wait_for(lambda: bool(done))

    async def holds() -> bool:
        return True

    await wait_for(holds)
    with pytest.raises(TimeoutError):
        await wait_for(lambda: False, timeout=0.02)


def test_the_package_hands_out_its_names_lazily() -> None:
    """Each name resolves; a wrong one is said."""
    for name in amplifier_core.__all__:
        assert getattr(amplifier_core, name).__name__ in {name, "SessionCoordinator"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = amplifier_core.nothing
