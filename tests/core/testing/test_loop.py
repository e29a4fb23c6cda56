"""Loops without a model."""

from __future__ import annotations

from amplifier_core.hooks import HookRegistry
from amplifier_core.testing import (
    EventRecorder,
    MemoryContext,
    MockTool,
    ScriptedLoop,
    ScriptedOrchestrator,
    TestCoordinator,
)


async def test_a_scripted_orchestrator_answers_in_turn_and_is_then_done() -> None:
    """It counts its calls and tells of a session around each."""
    loop, heard = ScriptedOrchestrator(["one", "two"]), EventRecorder()
    answers = [await loop.execute("p", None, {}, {}, heard) for _ in range(3)]
    assert answers == ["one", "two", "DONE"]
    assert loop.call_count == 3
    assert heard.names == ["session:start", "session:end"] * 3


async def test_a_scripted_orchestrator_does_without_hooks_and_takes_keywords() -> None:
    """As a session calls it, and as a small test does."""
    loop = ScriptedOrchestrator(["one"])
    assert await loop.execute("p") == "one"
    answer = await loop.execute(
        prompt="p", context=None, providers={}, tools={}, hooks=HookRegistry(), coordinator=None
    )
    assert answer == "DONE"


async def test_a_scripted_loop_calls_tools_through_the_hooks() -> None:
    """With and without a coordinator."""
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("*", heard)
    loop = ScriptedLoop([("t", {"a": 1})], reply="bye")
    tools = {"t": MockTool("t", "ok")}
    assert await loop.execute("p", MemoryContext(), {}, tools, registry) == "bye"
    assert [one.output for one in loop.results] == ["ok"]
    assert heard.names == ["tool:pre", "tool:post", "orchestrator:complete"]
    coordinator = TestCoordinator()
    reply = await loop.execute("p", None, {}, tools, coordinator.hooks, coordinator=coordinator)
    assert reply == "bye"
