"""A framework's tool call on the one path of tool calls."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from amplifier_core import HookResult
from amplifier_core.models import ToolResult
from amplifier_core.testing import EventRecorder, TestCoordinator
from amplifier_hooks.external.calling import (
    LoopSeat,
    Wanted,
    call_from_thread,
    call_through_hooks,
)
from amplifier_hooks.external.loops import THREAD, start_own_loop
from amplifier_hooks.external.verdicts import Called


class Detour(Exception):
    pass


def want(handler: Any, **more: Any) -> Wanted:
    return Wanted(
        "note", {"text": "a"}, "1", handler, lambda value: ToolResult(output=value), **more
    )


async def call(coordinator: TestCoordinator, wanted: Wanted) -> Called:
    return await call_through_hooks(coordinator, wanted, LoopSeat(asyncio.get_running_loop()))


async def test_an_untouched_result_is_the_very_object() -> None:
    """A program gets back what its own handler returned."""
    value = {"some": "object"}
    called = await call(TestCoordinator(), want(lambda given: value))
    assert called.untouched
    assert called.value is value


async def test_a_handler_may_be_async() -> None:
    """Either form is called with what hooks left."""

    async def handle(given: dict[str, Any]) -> str:
        return str(given["text"])

    assert (await call(TestCoordinator(), want(handle))).value == "a"


async def test_a_denied_call_has_a_text_and_no_value() -> None:
    """The handler is not called."""
    coordinator = TestCoordinator()
    recorder = EventRecorder(HookResult(action="deny", reason="no"))
    coordinator.hooks.register("tool:pre", recorder, name="policy")
    called = await call(coordinator, want(lambda given: 1 / 0))
    assert not called.ran
    assert not called.untouched
    assert called.text == "Operation denied by policy: no"


async def test_what_the_handler_raises_is_raised_again() -> None:
    """Hooks are told of it; the program handles it as it would without us."""
    coordinator, recorder = TestCoordinator(), EventRecorder()
    coordinator.hooks.register("tool:error", recorder)
    with pytest.raises(ZeroDivisionError):
        await call(coordinator, want(lambda given: 1 / 0))
    assert recorder.events[0][1]["error"]["type"] == "ZeroDivisionError"


async def test_exceptions_that_steer_are_no_failure() -> None:
    """They pass, and no tool has failed."""
    coordinator, recorder = TestCoordinator(), EventRecorder()
    coordinator.hooks.register("tool:error", recorder)

    def leave(given: dict[str, Any]) -> None:
        raise Detour

    with pytest.raises(Detour):
        await call(coordinator, want(leave, steering=(Detour,)))
    assert recorder.events == []


async def test_a_run_that_has_ended_runs_nothing() -> None:
    """Whatever was allowed."""
    ran: list[Any] = []
    called = await call(TestCoordinator(), want(ran.append, is_alive=lambda: False))
    assert ran == []
    assert "the run ended" in called.text
    assert not called.ran


def test_only_what_ran_and_was_left_alone_is_untouched() -> None:
    """Everything else has to be built."""
    result = ToolResult(output="a")
    assert Called(result, "a", ran=True).untouched
    assert not Called(result, "a", ran=True, changed=True).untouched
    assert not Called(result).untouched


def test_the_text_is_what_the_model_reads() -> None:
    """Of a result, and of a refusal."""
    assert Called(ToolResult(output={"a": 1})).text == '{"a": 1}'
    assert Called(ToolResult.refused("no")).text == "no"


def test_a_thread_calls_its_own_handler() -> None:
    """Hooks run on the loop, the tool in the thread that waits."""
    coordinator, seen = TestCoordinator(), []

    async def look(event: str, data: Any) -> HookResult:
        seen.append(threading.current_thread().name)
        return HookResult()

    coordinator.hooks.register("tool:pre", look)
    called = call_from_thread(
        lambda seat: call_through_hooks(
            coordinator, want(lambda given: threading.current_thread().name), seat
        ),
        start_own_loop(),
    )
    assert called.value == threading.current_thread().name
    assert seen == [THREAD]


@pytest.mark.parametrize(
    "error", [ValueError("x"), StopIteration("x"), SystemExit(3), KeyboardInterrupt()]
)
def test_a_thread_gets_what_its_handler_raised(error: BaseException) -> None:
    """Also what no future can hold, and what would stop the loop for everybody else."""

    def fail(given: dict[str, Any]) -> None:
        raise error

    coordinator = TestCoordinator()
    with pytest.raises(type(error)):
        call_from_thread(
            lambda seat: call_through_hooks(coordinator, want(fail), seat), start_own_loop()
        )
    assert start_own_loop().is_running()


async def test_a_handler_is_called_on_the_loop_of_its_framework() -> None:
    """Where the run lives on another one."""
    seat = LoopSeat(asyncio.get_running_loop())

    async def find_loop(given: dict[str, Any]) -> Any:
        return asyncio.get_running_loop()

    work = call_through_hooks(TestCoordinator(), want(find_loop), seat)
    future = asyncio.run_coroutine_threadsafe(work, start_own_loop())
    called = await asyncio.wrap_future(future)
    assert called.value is asyncio.get_running_loop()
