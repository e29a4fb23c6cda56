"""Waiting for foreign code, with a limit."""

from __future__ import annotations

import asyncio
import time

import pytest

from amplifier_core.utils import DONE, run_with_timeout


async def test_something_done_can_be_awaited_or_not():
    await DONE
    assert list(DONE.__await__()) == []


async def test_the_outcome_and_the_error_go_through():
    async def work(error: Exception | None = None) -> int:
        if error is not None:
            raise error
        return 5

    assert await run_with_timeout(work(), None) == 5
    with pytest.raises(ValueError, match="x"):
        await run_with_timeout(work(ValueError("x")), 1)


async def test_a_future_that_is_done():
    future = asyncio.get_running_loop().create_future()
    future.set_result(1)
    assert await run_with_timeout(future, 1) == 1


async def test_late_work_is_stopped():
    ended = []

    async def late() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    with pytest.raises(TimeoutError, match=r"took longer than 0\.01 s"):
        await run_with_timeout(late(), 0.01)
    assert ended == [True]


async def test_work_that_fails_while_it_is_stopped(caplog):
    async def bad() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ValueError("x") from None

    with pytest.raises(TimeoutError):
        await run_with_timeout(bad(), 0.01)
    assert caplog.messages == []


async def test_both_at_once():
    async def exactly() -> int:
        await asyncio.sleep(0.01)
        time.sleep(0.02)
        return 1

    assert await run_with_timeout(exactly(), 0.02) == 1


@pytest.mark.parametrize("moment", range(4))
async def test_no_cancellation_is_lost_when_the_work_has_just_ended(moment: int):
    """`asyncio.wait_for` drops it before Python 3.12."""
    work = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(run_with_timeout(work, 60))
    await asyncio.sleep(0)
    work.set_result(1)
    for _ in range(moment):
        await asyncio.sleep(0)
    if waiting.cancel():
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert waiting.done()


async def test_work_is_stopped_in_time_within_a_task_that_was_cancelled():
    """`asyncio.timeout` raises no TimeoutError there before Python 3.11.3."""
    ends = []

    async def clean_up() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            with pytest.raises(TimeoutError):
                await run_with_timeout(asyncio.sleep(60), 0.01)
            ends.append(True)

    task = asyncio.create_task(clean_up())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == [True]
