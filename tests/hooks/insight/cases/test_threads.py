"""The threads of a case."""

from __future__ import annotations

import asyncio
import threading

import pytest

from amplifier_core.testing import wait_for
from amplifier_hooks.insight.cases.threads import has_abandoned, own_threads


def test_a_thread_that_never_ends_is_left_behind() -> None:
    """The loop ends although it still runs."""
    release, begun = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        release.wait()

    async def run() -> None:
        with own_threads():
            waiting = asyncio.create_task(asyncio.to_thread(hang))
            await wait_for(begun.is_set)
            waiting.cancel()
            raise TimeoutError

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    try:
        assert begun.is_set()
        assert has_abandoned()
    finally:
        release.set()
    assert asyncio.run(wait_for(lambda: not has_abandoned()))


def test_threads_that_end_are_waited_for() -> None:
    """As the loop's own are."""

    async def run() -> str:
        with own_threads():
            return await asyncio.to_thread(lambda: "done")

    assert asyncio.run(run()) == "done"
    assert not has_abandoned()
