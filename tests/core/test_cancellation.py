"""Stopping a run: gracefully first, then at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core.cancellation import CancellationState, CancellationToken
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.prompt import STOPPED_AT_ONCE
from amplifier_core.testing import EventRecorder, MockTool
from amplifier_core.utils import calling as waiting
from tests.support.harness import Harness
from tests.support.sessions import SessionHarness, calls

# The token


def test_a_stop_is_wanted_gracefully_first_and_then_at_once() -> None:
    """Each step is taken once; there is no way back but a new turn."""
    token = CancellationToken()
    assert (token.state, token.is_cancelled) == ("none", False)
    assert token.request_cancellation()
    assert (token.state, token.is_graceful, token.is_immediate) == ("graceful", True, False)
    assert not token.request_graceful()
    assert token.request_immediate()
    assert (token.state, token.is_graceful, token.is_immediate) == ("immediate", False, True)
    assert not token.request_immediate()
    assert not token.request_graceful()
    token.reset()
    assert not token.is_cancelled


def test_the_state_is_a_plain_string_of_the_enumeration() -> None:
    """Modules compare it with either."""
    token = CancellationToken()
    token.request_immediate()
    assert type(token.state) is str
    assert token.state == CancellationState.IMMEDIATE
    assert [one.value for one in CancellationState] == ["none", "graceful", "immediate"]


def test_running_tools_are_ids_with_names() -> None:
    """Two calls of one tool are two; ending what does not run changes nothing."""
    token = CancellationToken()
    for call_id, name in (("1", "Write"), ("2", "Bash"), ("3", "Write")):
        token.register_tool_start(call_id, name)
    assert token.running_tools == {"1", "2", "3"}
    assert token.running_tool_names == ["Write", "Bash", "Write"]
    token.register_tool_complete("2")
    token.register_tool_complete("never started")
    assert token.running_tool_names == ["Write", "Write"]
    token.reset()
    assert (token.running_tools, token.running_tool_names) == (set(), [])


# Children


@pytest.mark.parametrize("request_of", ["request_graceful", "request_immediate"])
@pytest.mark.parametrize("late", [False, True])
def test_a_request_reaches_children_and_theirs(request_of: str, late: bool) -> None:
    """Also a child that came later, and the children it brought along."""
    parent, child, grandchild = (CancellationToken() for _ in range(3))
    child.register_child(grandchild)
    if late:
        getattr(parent, request_of)()
    parent.register_child(child)
    parent.register_child(child)
    if not late:
        getattr(parent, request_of)()
    assert child.state == grandchild.state == parent.state != "none"


def test_a_child_that_is_no_child_any_more_is_left_alone() -> None:
    """Unregistering twice is unregistering once; the others are still reached."""
    parent, child, other = (CancellationToken() for _ in range(3))
    parent.register_child(child)
    parent.register_child(other)
    parent.unregister_child(child)
    parent.unregister_child(child)
    parent.request_graceful()
    assert (child.state, other.state) == ("none", "graceful")


def test_a_request_does_not_climb_and_a_reset_does_not_descend() -> None:
    """A sub-agent stops alone; a new turn of the parent is not one of the child."""
    parent, child = CancellationToken(), CancellationToken()
    parent.register_child(child)
    child.request_immediate()
    assert not parent.is_cancelled
    parent.request_graceful()
    parent.reset()
    assert child.is_immediate


def test_a_circle_of_tokens_comes_to_an_end() -> None:
    """Whatever a module ties together."""
    one, other = CancellationToken(), CancellationToken()
    one.register_child(other)
    other.register_child(one)
    one.register_child(one)
    assert one.request_graceful()
    assert one.request_immediate()
    assert other.is_immediate


# Callbacks


async def test_every_callback_runs_whatever_one_of_them_does(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One raises, one hangs, one cancels itself; the others are called, plain or async."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    token, called = CancellationToken(), []

    async def later() -> None:
        called.append("async")

    async def sulk() -> None:
        raise asyncio.CancelledError

    def fail() -> None:
        raise ValueError("boom")

    for callback in (fail, lambda: asyncio.sleep(60), sulk, later):
        token.on_cancel(callback)
    take_back = token.on_cancel(lambda: called.append("plain"))
    await token.trigger_callbacks()
    take_back()
    take_back()
    await token.trigger_callbacks()
    assert called == ["async", "plain", "async"]
    assert caplog.text.count("A cancellation callback failed") == 6


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, asyncio.CancelledError])
async def test_an_interruption_is_raised_after_the_last_callback(
    interruption: type[BaseException],
) -> None:
    """It is not swallowed, and it does not keep the stop from the others."""
    token, called = CancellationToken(), []

    def interrupt() -> None:
        raise interruption

    token.on_cancel(interrupt)
    token.on_cancel(lambda: called.append("other"))
    token.on_cancel(interrupt)
    with pytest.raises(interruption):
        await token.trigger_callbacks()
    assert called == ["other"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
async def test_an_interruption_of_an_async_callback_does_not_end_the_loop(
    interruption: type[BaseException],
) -> None:
    """In a task of its own, it would leave through the loop, and the others would not run."""
    token, called = CancellationToken(), []

    async def interrupt() -> None:
        raise interruption

    token.on_cancel(interrupt)
    token.on_cancel(lambda: called.append("other"))
    with pytest.raises(interruption):
        await token.trigger_callbacks()
    assert called == ["other"]


async def test_the_coordinator_announces_each_step_once() -> None:
    """Hooks hear of a stop when it is wanted, and again when it becomes urgent."""
    harness, seen, called = Harness(), EventRecorder(), []
    harness.hooks.register("cancel:requested", seen)
    harness.coordinator.cancellation.on_cancel(lambda: called.append(True))
    for immediate in (False, False, True, True):
        await harness.coordinator.request_cancel(immediate=immediate)
    assert [data["immediate"] for _, data in seen.events] == [False, True]
    assert len(called) == 2


# A turn that is stopped


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
    """Whoever cancels the task gets a cancelled task, not a polite reply."""
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
