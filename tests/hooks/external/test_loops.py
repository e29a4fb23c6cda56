"""The loop of a run: reached from the same loop, from another one, and from threads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from amplifier_hooks.external import loops
from amplifier_hooks.external.loops import THREAD, Home, find_running_loop, start_own_loop


async def get_thread() -> str:
    return threading.current_thread().name


async def test_a_loop_does_not_wait_for_itself() -> None:
    """It would wait for ever; the error says what to do."""
    home = Home(asyncio.get_running_loop())
    with pytest.raises(RuntimeError, match="asynchronous entry point"):
        home.run_sync(get_thread())


async def test_who_stops_waiting_stops_the_work() -> None:
    """Also on another loop: nothing goes on behind the back of a cancelled run."""
    started, stopped = threading.Event(), threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    task = asyncio.create_task(Home(start_own_loop()).run(wait()))
    assert await asyncio.to_thread(started.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stopped.wait, 30)


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    """Servers fork their workers after everything has been imported and tried."""
    code = """
import os
from amplifier_hooks.external.loops import Home, start_own_loop
async def work(): return 7
assert Home(start_own_loop()).run_sync(work()) == 7
child = os.fork()
if child == 0:
    os._exit(Home(start_own_loop()).run_sync(work()))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


async def test_work_that_nobody_may_stop_is_done_to_its_end() -> None:
    """Who is cancelled waits for it, and is cancelled afterwards."""
    started, go, done = asyncio.Event(), asyncio.Event(), []

    async def work() -> None:
        started.set()
        await go.wait()
        done.append("all of it")

    home = Home(asyncio.get_running_loop())
    task = asyncio.create_task(home.run_through(work()))
    await started.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["all of it"]


async def test_work_that_takes_too_long_goes_on_without_who_was_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hook that hangs at the end hangs no program."""
    monkeypatch.setattr(loops, "PATIENCE", 0.01)
    started, go, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        await go.wait()
        done.set()

    task = asyncio.create_task(Home(asyncio.get_running_loop()).run_through(work()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    await asyncio.wait_for(done.wait(), 60)


async def test_work_is_done_on_the_loop_of_the_run() -> None:
    """In place where that is this one; its value or what it raised comes back."""

    async def fail() -> None:
        raise OSError("broken")

    here = Home(asyncio.get_running_loop())
    for run in (here.run, here.run_through):
        assert await run(get_thread()) == threading.current_thread().name
        with pytest.raises(OSError, match="broken"):
            await run(fail())
    assert await Home(start_own_loop()).run(get_thread()) == THREAD


@pytest.mark.parametrize("state", ["running", "standing still", "closed"])
def test_a_thread_waits_for_work_on_a_loop_that_runs(state: str) -> None:
    """Where the loop of the run does not run any more, that is the one loop of our own."""
    assert start_own_loop() is start_own_loop()
    assert find_running_loop() is None
    loop = start_own_loop() if state == "running" else asyncio.new_event_loop()
    if state == "closed":
        loop.close()
    try:
        assert Home(loop).run_sync(get_thread()) == THREAD
        assert Home(loop).find_loop_for_thread() is start_own_loop()
    finally:
        if state != "running":
            loop.close()
