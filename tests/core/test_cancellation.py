"""Stopping a run: gracefully first, then at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import cancellation
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.session import STOPPED_AT_ONCE
from amplifier_core.testing import EventRecorder, MockTool
from tests.support.harness import Harness
from tests.support.sessions import SessionHarness, calls


async def test_a_token_has_two_steps(monkeypatch, caplog):
    monkeypatch.setattr(cancellation, "PATIENCE", 0.01)
    harness, seen, told = Harness(), EventRecorder(), []
    harness.hooks.register("cancel:requested", seen)
    token = harness.coordinator.cancellation

    async def later() -> None:
        told.append("async")

    def broken() -> None:
        raise ValueError("boom")

    token.on_cancel(broken)
    token.on_cancel(lambda: asyncio.sleep(60))
    token.on_cancel(later)
    take_back = token.on_cancel(lambda: told.append("sync"))
    await harness.coordinator.request_cancel()
    assert (token.state, token.is_cancelled, token.is_graceful) == ("graceful", True, True)
    take_back()
    take_back()
    await harness.coordinator.request_cancel()
    await harness.coordinator.request_cancel(immediate=True)
    await harness.coordinator.request_cancel(immediate=True)
    assert token.is_immediate
    assert not token.request_graceful()
    assert [data["immediate"] for _, data in seen.events] == [False, True]
    assert told == ["async", "sync", "async"]
    assert caplog.text.count("A cancellation callback failed") == 4
    token.register_tool_start("1", "Write")
    assert token.running_tools == {"1": "Write"}
    token.register_tool_complete("1")
    token.register_tool_complete("1")
    token.reset()
    assert not token.is_cancelled


async def test_an_immediate_stop_reaches_a_question_before_the_prompt_is_accepted() -> None:
    """Cancellation that is graceful first and immediate second, from the first hook on."""
    asked = asyncio.Event()

    class Silent:
        async def request_approval(self, *given: Any) -> str:
            asked.set()
            await asyncio.sleep(60)
            return "Allow"

    async with SessionHarness([{"text": "never"}], approval=Silent()) as harness:
        ask = HookResult(action="ask_user", approval_prompt="really?")
        harness.hooks.register("prompt:submit", EventRecorder(ask))
        heard = harness.listen()
        turn = asyncio.create_task(harness.session.execute("x"))
        await asked.wait()
        await harness.coordinator.request_cancel(immediate=True)
        assert await asyncio.wait_for(turn, 5) == STOPPED_AT_ONCE
        assert harness.session.status == "interrupted"
    assert "cancel:completed" in heard.names
    assert "prompt:complete" not in heard.names


async def test_a_cancelled_task_is_cancelled_even_if_a_stop_was_wanted_too() -> None:
    """When the running task is being cancelled, cancellation goes through."""
    running = asyncio.Event()

    class Slow(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            running.set()
            await asyncio.sleep(60)
            return ToolResult()

    async with SessionHarness([calls("Slow"), {"text": "x"}], tools=[Slow("Slow")]) as harness:
        turn = asyncio.create_task(harness.session.execute("x"))
        await running.wait()
        await harness.coordinator.request_cancel(immediate=True)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_a_stop_without_callbacks_swallows_no_cancellation() -> None:
    """A token that somebody set by hand does not turn a real cancellation into a reply."""
    running = asyncio.Event()

    class Slow(MockTool):
        async def execute(self, input: dict[str, Any]) -> ToolResult:
            running.set()
            await asyncio.sleep(60)
            return ToolResult()

    async with SessionHarness([calls("Slow"), {"text": "x"}], tools=[Slow("Slow")]) as harness:
        turn = asyncio.create_task(harness.session.execute("x"))
        await running.wait()
        harness.coordinator.cancellation.request_immediate()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_a_loop_that_swallows_the_stop_leaves_the_task_uncancelled() -> None:
    """After the turn the caller's task is as before."""

    class Stubborn:
        async def execute(self, prompt: str, *given: Any, **more: Any) -> str:
            try:
                await more["coordinator"].request_cancel(immediate=True)
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                pass
            return "went on"

    async with SessionHarness([]) as harness:
        await harness.coordinator.mount("orchestrator", Stubborn())
        assert await harness.session.execute("x") == "went on"
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


async def test_after_a_graceful_stop_no_further_tool_runs() -> None:
    """Graceful: the reply is finished, its calls are answered, and nothing new begins."""
    tool = MockTool("Echo")
    async with SessionHarness([calls("Echo"), {"text": "never"}], tools=[tool]) as harness:

        async def stop(event: str, data: dict[str, Any]) -> None:
            await harness.coordinator.request_cancel()

        harness.hooks.register("provider:response", stop)
        await harness.session.execute("x")
        assert harness.texts("tool") == ["The call was not run: the user asked to stop."]
    assert tool.calls == []
