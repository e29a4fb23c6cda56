"""A loop whose clock does not wait."""

from __future__ import annotations

import asyncio
import time

import pytest

from amplifier_hooks.insight.replay.virtual_time import VirtualTimeLoop


def run(work: object) -> object:
    """Run something in such a loop."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)  # type: ignore[arg-type]


def test_a_week_passes_at_once_and_in_order() -> None:
    """Timers end one after another, as they would."""
    ended: list[str] = []

    async def wait(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        ended.append(name)

    async def work() -> float:
        await asyncio.gather(wait("week", 604_800), wait("day", 86_400))
        return asyncio.get_running_loop().time()

    started = time.monotonic()
    assert run(work()) == pytest.approx(604_800)
    assert ended == ["day", "week"]
    assert time.monotonic() - started < 3600


def test_a_time_limit_does_not_end_what_a_thread_does() -> None:
    """Threads run in real time, and so does the clock while one does."""

    async def work() -> str:
        async with asyncio.timeout(3600):
            await asyncio.to_thread(time.sleep, 0.05)
            return "done"

    assert run(work()) == "done"


def test_whoever_waits_in_vain_is_noticed() -> None:
    """Before any time limit is over."""
    found: list[float] = []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        never = loop.create_future()

        def end() -> bool:
            found.append(loop.time())
            never.cancel()
            return True

        loop.on_idle = end
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(60):
                await never

    run(work())
    assert found == [0.0]
