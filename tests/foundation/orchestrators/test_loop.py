"""The loops: order, retries, limits, cancellation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core.errors import ModuleNotFound
from amplifier_core.llm_errors import AuthenticationError, ProviderUnavailableError
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import EventRecorder, MockTool, wait_for
from tests.support.sessions import calls, stage

LOOPS = pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])


def both(*names: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "input": {}} for name in names]}


class Meets(MockTool):
    """A tool that only returns when another one is running at the same time."""

    def __init__(self, name: str, mine: asyncio.Event, other: asyncio.Event) -> None:
        super().__init__(name)
        self.mine, self.other = mine, other

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.mine.set()
        async with asyncio.timeout(5):
            await self.other.wait()
        return ToolResult(output=self.name)


@LOOPS
async def test_parallel_calls_run_together_and_keep_the_models_order(loop: str) -> None:
    """Parallel tool calls of one reply run concurrently; results keep the model's order."""
    one, two = asyncio.Event(), asyncio.Event()
    tools = [Meets("A", one, two), Meets("B", two, one)]
    async with stage([both("A", "B"), {"text": "ok"}], tools=tools, loop=loop) as staged:
        heard = staged.listen()
        assert await staged.session.execute("x") == "ok"
        assert staged.texts("tool") == ["A", "B"]
        assert len(heard.get_events("tool:pre")) == 2


async def test_calls_run_one_after_the_other_if_so_configured() -> None:
    """parallel_tools: false."""
    order: list[str] = []
    tools = [MockTool(name, lambda _, n=name: order.append(n)) for name in ("A", "B")]
    config = {"parallel_tools": False}
    async with stage([both("A", "B"), {"text": "ok"}], tools=tools, loop_config=config) as staged:
        await staged.session.execute("x")
    assert order == ["A", "B"]


async def test_an_injection_never_stands_between_a_call_and_its_results() -> None:
    """Parking: with parallel calls every injection waits for all results."""
    inject = HookResult(action="inject_context", context_injection="note")
    tools = [MockTool(name) for name in ("A", "B", "C")]
    async with stage([both("A", "B", "C"), {"text": "ok"}], tools=tools) as staged:
        for event in ("tool:pre", "tool:post", "decision:tool_resolution"):
            staged.hooks.register(event, EventRecorder(inject))
        await staged.session.execute("x")
        roles = [one["role"] for one in staged.messages]
        assert roles == ["user", "assistant", *["tool"] * 3, *["system"] * 9, "assistant"]


@LOOPS
async def test_a_retryable_error_is_tried_again_and_told(loop: str) -> None:
    """Retries with backoff (provider:retry)."""
    script: list[dict[str, Any]] = [
        {"error": {"type": "overloaded"}},
        {"error": {"type": "rate_limit", "retry_after": 0.0}},
        {"text": "ok"},
    ]
    async with stage(script, loop=loop) as staged:
        heard = staged.listen()
        assert await staged.session.execute("x") == "ok"
    told = [
        (d["attempt"], d["error"]["status_code"]) for _, d in heard.get_events("provider:retry")
    ]
    assert told == [(1, 529), (2, 429)]
    assert "provider:error" not in heard.names


async def test_after_the_last_attempt_the_error_is_told_and_raised() -> None:
    """Errors as provider:error."""
    script: list[dict[str, Any]] = [{"error": {"type": "overloaded"}}] * 3
    async with stage(script, loop_config={"attempts": 2, "retry_delay": 0.0}) as staged:
        heard = staged.listen()
        with pytest.raises(ProviderUnavailableError):
            await staged.session.execute("x")
        assert staged.session.status == "error"
    assert [d["status"] for _, d in heard.get_events("orchestrator:complete")] == ["error"]
    assert len(heard.get_events("provider:error")) == 1


async def test_an_error_that_will_not_go_away_is_not_tried_again() -> None:
    """A refused key is not retried, and the session can go on."""
    async with stage([{"error": {"type": "authentication"}}, {"text": "later"}]) as staged:
        heard = staged.listen()
        with pytest.raises(AuthenticationError):
            await staged.session.execute("x")
        assert await staged.session.execute("again") == "later"
    assert "provider:retry" not in heard.names


async def test_a_broken_stream_is_tried_again() -> None:
    """A stream that ends before the reply did is retried as a whole."""
    script: list[dict[str, Any]] = [
        {"text": "one two three four", "break_after": 2},
        {"text": "whole"},
    ]
    async with stage(script, loop="loop-streaming") as staged:
        heard = staged.listen()
        reply = await staged.session.execute("x")
        assert reply in {"whole", "one two three four"}
    assert len(heard.get_events("provider:retry")) == 1


@LOOPS
async def test_a_loop_without_end_stops_and_says_why(loop: str) -> None:
    """max_turns: limits are configurable and the reason is said."""
    script: list[dict[str, Any]] = [calls("Echo", word=str(n)) for n in range(9)]
    config = {"max_turns": 4}
    async with stage(script, tools=[MockTool("Echo")], loop=loop, loop_config=config) as staged:
        heard = staged.listen()
        reply = await staged.session.execute("x")
        assert reply == "Stopped: max_turns reached: 4 requests for one prompt."
        assert len(staged.tools["Echo"].calls) == 4
    ((_, told),) = heard.get_events("orchestrator:complete")
    assert (told["status"], told["turn_count"]) == ("interrupted", 4)
    alerts = [d["notification_type"] for _, d in heard.get_events("user:notification")]
    assert "alert" in alerts


async def test_a_hook_that_keeps_denying_cannot_spin_the_loop() -> None:
    """Runaway protection: a hook that keeps denying cannot spin the loop for ever."""
    script: list[dict[str, Any]] = [calls("Echo", word=str(n)) for n in range(20)]
    config = {"max_denied": 3}
    async with stage(script, tools=[MockTool("Echo")], loop_config=config) as staged:
        staged.hooks.register("tool:pre", EventRecorder(HookResult(action="deny", reason="no")))
        reply = await staged.session.execute("x")
    assert reply == "Stopped: every tool call of 3 rounds was denied."


async def test_a_hook_that_keeps_injecting_cannot_spin_the_loop() -> None:
    """A hook that injects on every event ends with the model's last word."""
    inject = HookResult(action="inject_context", context_injection="more")
    async with stage([{"text": "done"}]) as staged:
        staged.hooks.register("*", EventRecorder(inject))
        assert await staged.session.execute("x") == "done"


async def test_unreadable_arguments_are_told_to_the_model() -> None:
    """Malformed tool arguments are a result that the agent reads, not a crash."""
    script: list[dict[str, Any]] = [
        {"tool_calls": [{"name": "Echo", "arguments": "{not json"}]},
        {"text": "sorry"},
    ]
    async with stage(script, tools=[MockTool("Echo")]) as staged:
        assert await staged.session.execute("x") == "sorry"
        assert staged.tools["Echo"].calls == []
        assert "success" in staged.messages[2]["metadata"]
        assert staged.messages[2]["metadata"]["success"] is False


async def test_an_empty_reply_ends_the_turn() -> None:
    """Empty reply."""
    async with stage([{"text": ""}]) as staged:
        assert await staged.session.execute("x") == ""


async def test_no_provider_is_one_clear_sentence() -> None:
    """Without any provider the turn says so."""
    async with stage([]) as staged:
        await staged.coordinator.unmount("providers", "scripted")
        with pytest.raises(ModuleNotFound, match=r"No provider is mounted; have \[\]"):
            await staged.session.execute("x")


async def test_a_named_provider_is_used() -> None:
    """provider: NAME chooses among several."""
    async with stage([{"text": "x"}], loop_config={"provider": "other"}) as staged:
        with pytest.raises(ModuleNotFound, match="No provider 'other' is mounted"):
            await staged.session.execute("x")


class Sleeps(MockTool):
    """Runs until somebody stops it."""

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.calls.append(input)
        await asyncio.sleep(30)
        return ToolResult()


class Brief(MockTool):
    """Runs for a moment."""

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.calls.append(input)
        await asyncio.sleep(0.05)
        return ToolResult(output="finished")


async def test_a_graceful_stop_lets_the_running_tool_finish() -> None:
    """Cancellation that is graceful first."""
    script: list[dict[str, Any]] = [calls("Brief"), {"text": "never said"}]
    async with stage(script, tools=[Brief("Brief")]) as staged:
        heard = staged.listen()
        work = asyncio.create_task(staged.session.execute("x"))
        await wait_for(lambda: bool(staged.tools["Brief"].calls))
        await staged.coordinator.request_cancel()
        assert await work in {"", "Stopped, as requested."}
        assert staged.texts("tool") == ["finished"]
        assert staged.session.status == "interrupted"
    assert [d["immediate"] for _, d in heard.get_events("cancel:completed")] == [False]
    assert [d["status"] for _, d in heard.get_events("orchestrator:complete")] == ["interrupted"]


async def test_an_immediate_stop_ends_the_running_tool_and_the_history_stays_valid() -> None:
    """Immediate second: every call still has its result, so the next turn works."""
    script: list[dict[str, Any]] = [both("Sleeps", "Echo"), {"text": "next turn"}]
    tools = [Sleeps("Sleeps"), MockTool("Echo", "quick")]
    async with stage(script, tools=tools) as staged:
        heard = staged.listen()
        work = asyncio.create_task(staged.session.execute("x"))
        await wait_for(lambda: bool(staged.tools["Sleeps"].calls))
        await staged.coordinator.request_cancel()
        await staged.coordinator.request_cancel(immediate=True)
        assert await work == "Stopped at once, as requested."
        assert staged.texts("tool") == ["The call was cancelled.", "quick"]
        assert await staged.session.execute("again") == "next turn"
    requested = [d["immediate"] for _, d in heard.get_events("cancel:requested")]
    assert requested == [False, True]


async def test_cancelling_from_outside_goes_through() -> None:
    """When the running task is being cancelled, cancellation goes through."""
    async with stage([calls("Sleeps")], tools=[Sleeps("Sleeps")]) as staged:
        work = asyncio.create_task(staged.session.execute("x"))
        await wait_for(lambda: bool(staged.tools["Sleeps"].calls))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


async def test_a_turn_that_takes_too_long_is_stopped() -> None:
    """turn_timeout: nothing hangs."""
    async with stage(
        [calls("Sleeps")], tools=[Sleeps("Sleeps")], session={"turn_timeout": 0.05}
    ) as staged:
        with pytest.raises(TimeoutError):
            await staged.session.execute("x")
        assert staged.texts("tool") == ["The call was cancelled."]


async def test_deltas_and_thinking_are_events() -> None:
    """loop-streaming: content and thinking deltas as events."""
    async with stage(
        [{"thinking": "let me see", "text": "hello world"}], loop="loop-streaming"
    ) as s:
        heard = s.listen()
        assert await s.session.execute("x") == "hello world"
    text = "".join(d["delta"] for _, d in heard.get_events("content_block:delta"))
    assert text == "hello world"
    ((_, final),) = heard.get_events("thinking:final")
    assert final["thinking"] == "let me see"
    assert "".join(d["delta"] for _, d in heard.get_events("thinking:delta")) == "let me see"
