"""The time limit."""

from __future__ import annotations

import asyncio
import signal
import threading
import time

import pytest

from amplifier_hooks.insight.cases.time_limit import Blocked, limit_time


async def test_what_waits_is_cancelled() -> None:
    """With the error that asyncio has for it."""
    with pytest.raises(TimeoutError):
        async with limit_time(0.01):
            await asyncio.Event().wait()


def test_what_blocks_the_loop_is_interrupted_even_if_it_catches_everything_once() -> None:
    """Nothing else could end it; the handlers of all signals are as before."""
    before = [signal.getsignal(one) for one in signal.valid_signals()]

    async def block() -> None:
        async with limit_time(0.01):
            for _ in range(2):
                try:
                    time.sleep(100)
                except BaseException:  # noqa: BLE001 - as hostile hooks may
                    continue
            time.sleep(100)

    with pytest.raises(Blocked):
        asyncio.run(block())
    assert [signal.getsignal(one) for one in signal.valid_signals()] == before


def test_in_other_threads_what_waits_is_cancelled_all_the_same() -> None:
    """Signals reach the main thread only."""
    seen: list[str] = []

    async def wait() -> None:
        try:
            async with limit_time(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            seen.append("ended")

    thread = threading.Thread(target=lambda: asyncio.run(wait()))
    thread.start()
    thread.join()
    assert seen == ["ended"]
