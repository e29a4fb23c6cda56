"""Jobs: the result reaches the loop of whoever awaits it, if there still is one."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from amplifier_hooks.approvals.stores.sqlite import Job, report


def report_from_thread(*jobs: Job) -> None:
    thread = threading.Thread(target=report, args=(jobs,))
    thread.start()
    thread.join()


async def test_results_and_errors_reach_who_awaits() -> None:
    """From another thread."""
    good, bad, gone = (Job.make(lambda transaction: None) for _ in range(3))
    good.result, bad.error = 7, KeyError("mine")
    gone.future.cancel()
    report_from_thread(good, bad, gone)
    assert await good.future == 7
    with pytest.raises(KeyError):
        await bad.future
    assert gone.future.cancelled()


def test_a_closed_loop_is_passed_over() -> None:
    """Others still get theirs."""

    async def make() -> Job:
        return Job.make(lambda transaction: None)

    gone = asyncio.run(make())

    async def live() -> Any:
        here = Job.make(lambda transaction: None)
        here.result = "here"
        report_from_thread(gone, here)
        return await here.future

    assert asyncio.run(live()) == "here"
