"""What the search tools share: a thread that can be told to stop, and the form of an answer."""

from __future__ import annotations

import asyncio
import threading

import pytest

from amplifier_hooks.agent.tools.search.search_tool import format_answer, run_in_thread
from tests.support.waiting import wait_until


async def test_work_is_done_beside_the_loop():
    """And its result comes back."""
    assert await run_in_thread(lambda stop: threading.current_thread()) is not (
        threading.current_thread()
    )


async def test_a_cancelled_call_tells_the_thread_to_stop():
    """A thread cannot be ended, but it can look."""
    started, stopped = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        started.set()
        if stop.wait(20):
            stopped.set()

    task = asyncio.create_task(run_in_thread(work))
    await wait_until(started.is_set, timeout=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await wait_until(stopped.is_set, timeout=20)


def test_notes_stand_below_the_lines():
    """In parentheses, so that nobody takes them for a file."""
    assert format_answer(["a", "b"], ["more"]) == "a\nb\n(more)"
    assert format_answer(["a"], []) == "a"


async def test_a_search_may_start_elsewhere(call, list_names):
    """`working_dir`: relative paths start there."""
    found = await call("Glob", {"working_dir": "src"}, pattern="**/*.py")
    assert list_names(found) == ["src/deep/b.py", "src/a.py"]
