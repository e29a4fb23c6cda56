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
