"""A framework's tool call on the one path of tool calls."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from amplifier_core import HookResult
from amplifier_core.models import ToolResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.external.calling import (
    LoopSeat,
    Wanted,
    call_from_thread,
    call_through_hooks,
)
from amplifier_hooks.external.loops import THREAD, start_own_loop


def want(handler: Any) -> Wanted:
    return Wanted("note", {"text": "a"}, "1", handler, lambda value: ToolResult(output=value))


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
