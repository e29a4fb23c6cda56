"""One session for several runs, also if they begin at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_core import HookRegistry, HookResult
from amplifier_core.errors import SessionDenied
from amplifier_core.testing import EventRecorder, MemoryAudit
from amplifier_hooks.coverage.coverage import Coverage
from amplifier_hooks.frameworks import govern

NOTHING = Coverage("x", "X", "x", "x", "x", {}, ())


class World:
    """A governor whose sessions take a while to start."""

    def __init__(self) -> None:
        self.registry, self.audit, self.started = HookRegistry(), MemoryAudit(), asyncio.Event()
        self.registry.register("session:start", self._wait)
        self.hooks = govern(self.registry, audit=self.audit)

    async def _wait(self, event: str, data: Any) -> HookResult:
        await self.started.wait()
        return HookResult()

    def count(self, kind: str) -> int:
        return len(self.audit.of_type(kind))


async def test_runs_that_begin_at_once_share_one_session() -> None:
    """The others wait until the first has opened it; it ends with the block."""
    world = World()
    async with world.hooks.conversation():
        work = [asyncio.create_task(world.hooks.open(NOTHING)) for _ in range(3)]
        await asyncio.sleep(0)
        world.started.set()
        runs = await asyncio.gather(*work)
        assert len(set(runs)) == 1
        await runs[0].end()
        assert not runs[0].has_ended
    assert (world.count("session_started"), world.count("session_ended")) == (1, 1)


async def test_the_next_opens_it_if_the_first_does_not() -> None:
    """Who is cancelled leaves the others to it."""
    world = World()
    async with world.hooks.conversation():
        first, second = (asyncio.create_task(world.hooks.open(NOTHING)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        world.started.set()
        run = await second
        assert run.is_shared
        assert await world.hooks.open(NOTHING) is run


async def test_who_stops_waiting_does_not_stop_the_others() -> None:
    """Each of them waits for itself."""
    world = World()
    async with world.hooks.conversation():
        first, second, third = (asyncio.create_task(world.hooks.open(NOTHING)) for _ in range(3))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        world.started.set()
        assert await first is await third


async def test_a_refused_start_is_refused_to_all() -> None:
    """Nobody gets a run without a session."""
    registry = HookRegistry()
    registry.register("session:start", EventRecorder(HookResult(action="deny", reason="no")))
    hooks = govern(registry)
    async with hooks.conversation():
        work = (hooks.open(NOTHING) for _ in range(2))
        for found in await asyncio.gather(*work, return_exceptions=True):
            assert isinstance(found, SessionDenied)


@pytest.mark.parametrize("ended", [True, False])
async def test_a_task_that_outlives_the_block_has_sessions_of_its_own(ended: bool) -> None:
    """Its runs end by themselves again."""
    world, left = World(), asyncio.Event()
    world.started.set()

    async def work() -> None:
        await left.wait()
        run = await world.hooks.open(NOTHING)
        assert not run.is_shared
        await run.end()

    async with world.hooks.conversation():
        if ended:
            await world.hooks.open(NOTHING)
        task = asyncio.create_task(work())
    left.set()
    await task
    assert world.count("session_started") == world.count("session_ended")
