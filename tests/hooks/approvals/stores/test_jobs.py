"""Work for other threads, and its result back in the loop that awaits it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from amplifier_hooks.approvals.stores.jobs import Job, Workers, report
from tests.support.waiting import wait_until


def report_from_thread(*jobs: Job) -> None:
    thread = threading.Thread(target=report, args=(jobs,))
    thread.start()
    thread.join()


async def test_results_and_errors_reach_who_awaits() -> None:
    """From another thread."""
    good, bad, gone = (Job.make(int) for _ in range(3))
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
        return Job.make(int)

    gone = asyncio.run(make())

    async def live() -> Any:
        here = Job.make(int)
        here.result = "here"
        report_from_thread(gone, here)
        return await here.future

    assert asyncio.run(live()) == "here"


def fail() -> None:
    raise KeyError("mine")


async def test_workers_do_what_is_put_and_are_no_more_than_is_needed() -> None:
    """One after another needs one thread; many at once get as many as there may be."""
    workers = Workers("test-worker", 3)
    try:
        for number in range(5):
            job = Job.make(lambda number=number: number)
            workers.put(job)
            assert await job.future == number
            await wait_until(lambda: bool(workers._idle))
        assert count_threads() == 1
        together = threading.Barrier(3)
        jobs = [Job.make(lambda: together.wait(30)) for _ in range(6)]
        for job in jobs:
            workers.put(job)
        assert sorted(await asyncio.gather(*(job.future for job in jobs))) == [0, 0, 1, 1, 2, 2]
        assert count_threads() == 3
        failing = Job.make(fail)
        workers.put(failing)
        with pytest.raises(KeyError):
            await failing.future
    finally:
        await asyncio.to_thread(workers.close)
    assert count_threads() == 0


def count_threads() -> int:
    return sum(one.name == "test-worker" for one in threading.enumerate())


async def test_what_gathers_while_one_is_done_is_taken_together() -> None:
    """As many as may be, those that somebody still waits for, and in their order."""
    begun, go_on = threading.Event(), threading.Event()
    taken: list[list[Any]] = []

    def do(jobs: list[Job]) -> None:
        taken.append([job.work() for job in jobs])
        begun.set()
        go_on.wait(30)
        report(jobs)

    workers = Workers("test-worker", 1, do, at_once=3)
    jobs = [Job.make(lambda number=number: number) for number in range(6)]
    workers.put(jobs[0])
    await asyncio.to_thread(begun.wait, 30)
    for job in jobs[1:]:
        workers.put(job)
    jobs[2].future.cancel()
    go_on.set()
    await asyncio.gather(*(job.future for job in jobs), return_exceptions=True)
    await asyncio.to_thread(workers.close)
    assert taken == [[0], [1, 3], [4, 5]]


async def test_closing_gives_up_what_was_not_begun_and_waits_for_the_rest() -> None:
    """Whoever awaits it hears so."""
    begun, go_on = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        go_on.wait(30)
        return "done"

    workers = Workers("test-worker", 1)
    under_way, waiting = Job.make(work), Job.make(int)
    workers.put(under_way)
    await asyncio.to_thread(begun.wait, 30)
    workers.put(waiting)
    closing = asyncio.create_task(asyncio.to_thread(workers.close))
    with pytest.raises(asyncio.CancelledError):
        await waiting.future
    go_on.set()
    await closing
    assert await under_way.future == "done"
