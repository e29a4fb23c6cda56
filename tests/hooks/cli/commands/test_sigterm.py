"""SIGTERM during a run: before the loop, inside it, and where it cannot be heeded."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.agent import Sigterm, Terminated, handle_sigterm


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_before_the_loop_it_is_raised_at_once() -> None:
    """While modules are imported or standard input is read there is nothing to end in order."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated) as raised, handle_sigterm():
        terminate()
    assert (raised.value.exit_code, str(raised.value)) == (
        exit_codes.TERMINATED,
        "Ended by SIGTERM.",
    )
    assert signal.getsignal(signal.SIGTERM) == before


def test_in_the_loop_it_stops_the_work_and_wakes_the_loop() -> None:
    """Nothing else is going on."""

    async def work(sigterm: Sigterm) -> None:
        stopped = asyncio.Event()
        sigterm.stop_with(stopped.set)
        threading.Timer(0.05, terminate).start()
        async with asyncio.timeout(30):
            await stopped.wait()
        sigterm.stop_with(None)
        sigterm.check()

    with pytest.raises(Terminated), handle_sigterm() as sigterm:
        asyncio.run(work(sigterm))


def test_a_second_one_does_not_wait_for_an_orderly_end() -> None:
    """It ends the program by the same error; a third one is as if nobody heeded it."""
    before = signal.getsignal(signal.SIGTERM)
    seen: list[object] = []

    async def work(sigterm: Sigterm) -> None:
        sigterm.stop_with(lambda: None)
        terminate()
        try:
            terminate()
        finally:
            seen.append(signal.getsignal(signal.SIGTERM))

    with pytest.raises(Terminated), handle_sigterm() as sigterm:
        asyncio.run(work(sigterm))
    assert seen == [before]


def test_a_task_that_it_cancelled_ended_by_it() -> None:
    """And not by a cancellation of somebody else's."""

    async def work(sigterm: Sigterm, ends_itself: bool) -> None:
        task = asyncio.current_task()
        assert task is not None
        sigterm.stop_with(task.cancel)
        if ends_itself:
            raise asyncio.CancelledError
        terminate()
        async with asyncio.timeout(30):
            await asyncio.Event().wait()

    with pytest.raises(Terminated), handle_sigterm() as sigterm:
        asyncio.run(work(sigterm, ends_itself=False))
    with pytest.raises(asyncio.CancelledError), handle_sigterm() as sigterm:
        asyncio.run(work(sigterm, ends_itself=True))


def test_in_another_thread_it_changes_nothing() -> None:
    """Only the main thread may say what signals do."""
    before = signal.getsignal(signal.SIGTERM)
    seen: list[object] = []

    def enter() -> None:
        with handle_sigterm() as sigterm:
            seen.extend([sigterm.told, signal.getsignal(signal.SIGTERM)])

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [False, before]
