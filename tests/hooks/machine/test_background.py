"""Work that a hook starts and nobody waits for."""

from __future__ import annotations

import asyncio
import contextvars

import pytest

from amplifier_hooks.machine.background import BackgroundTasks, Turns


async def test_a_background_failure_is_logged_and_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Work that nobody waits for cannot fail the agent."""

    async def fail() -> None:
        raise RuntimeError("boom")

    tasks = BackgroundTasks("hooks-x")
    tasks.start(fail())
    await asyncio.sleep(0)
    await tasks.close(grace=1)
    assert "hooks-x failed in the background: RuntimeError: boom" in caplog.text
    assert len(tasks) == 0


async def test_too_much_background_work_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    """A burst must not fill the memory."""
    tasks = BackgroundTasks("hooks-x", limit=2)
    started = [tasks.start(asyncio.sleep(60)) for _ in range(5)]
    assert [one is not None for one in started] == [True, True, False, False, False]
    await tasks.close()
    assert len(tasks) == 0
    assert "dropped one" in caplog.text


async def test_finished_work_makes_room_again() -> None:
    """The limit counts only what is still running."""
    tasks = BackgroundTasks("hooks-x", limit=1)
    first = tasks.start(asyncio.sleep(0))
    assert first is not None
    await first
    await asyncio.sleep(0)
    assert tasks.start(asyncio.sleep(0)) is not None
    await tasks.close()


async def test_background_work_is_not_part_of_the_hooks_run() -> None:
    """What it prints or emits later does not count as the hook's own."""
    variable = contextvars.ContextVar("hook", default="outside")
    variable.set("inside a hook")
    seen = []

    async def look() -> None:
        seen.append(variable.get())

    tasks = BackgroundTasks("hooks-x")
    tasks.start(look())
    await tasks.close(grace=1)
    assert seen == ["outside"]


async def test_closing_gives_a_moment_and_then_ends_the_rest() -> None:
    """Quick work is finished, slow work sees its cancellation."""
    ended = []

    async def work(seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
            ended.append("finished")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    tasks = BackgroundTasks("hooks-x")
    tasks.start(work(0.01))
    tasks.start(work(60))
    await tasks.close(grace=0.1)
    assert ended == ["finished", "cancelled"]


async def test_a_cancelled_task_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    """Closing writes nothing into the log."""
    tasks = BackgroundTasks("hooks-x")
    tasks.start(asyncio.sleep(60))
    await tasks.close()
    assert caplog.text == ""


async def test_so_many_have_a_turn_at_once() -> None:
    """The others wait for theirs, also when one fails."""
    turns = Turns(2)
    running: list[int] = []
    most: list[int] = []

    async def work(number: int) -> None:
        async with turns.take():
            running.append(number)
            most.append(len(running))
            await asyncio.sleep(0)
            running.remove(number)
            if number == 1:
                raise ValueError

    results = await asyncio.gather(*map(work, range(6)), return_exceptions=True)
    assert [one for one in results if one is not None] == [results[1]]
    assert max(most) == 2


def test_loops_do_not_wait_for_one_another_and_are_forgotten() -> None:
    """Each has its own turns; of those that are closed, at most the last is remembered."""
    turns = Turns()

    async def take() -> None:
        async with turns.take():
            await asyncio.sleep(0)

    async def take_twice() -> None:
        await asyncio.gather(take(), take())

    for _ in range(3):
        asyncio.run(take_twice())
    assert len(turns._by_loop) == 1
