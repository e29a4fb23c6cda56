"""How long the resident process lives."""

from __future__ import annotations

import asyncio

from amplifier_hooks.coding_agents.daemon.lifetime import Lifetime


def make_lifetime(idle: float) -> tuple[Lifetime, list[str]]:
    """One that notes when its doors close."""
    closed: list[str] = []
    return Lifetime(idle, lambda: closed.append("closed")), closed


async def test_it_ends_when_nobody_needs_it() -> None:
    """After its idle time the doors are closed, and then it ends."""
    lifetime, closed = make_lifetime(0.01)
    await asyncio.wait_for(lifetime.wait(lambda: False), 50)
    assert lifetime.ending
    assert closed == ["closed"]


async def test_it_does_not_end_while_something_is_open() -> None:
    """Neither during a request nor while the judge holds it."""
    lifetime, closed = make_lifetime(0.001)
    asked = asyncio.Event()
    held = True

    def is_needed() -> bool:
        asked.set()
        return held

    with lifetime.hold():
        waiting = asyncio.create_task(lifetime.wait(is_needed))
        await asyncio.sleep(0.02)
        assert not asked.is_set()
    await asyncio.wait_for(asked.wait(), 50)
    assert closed == []
    held = False
    await asyncio.wait_for(waiting, 50)
    assert closed == ["closed"]


async def test_a_look_at_it_is_no_use() -> None:
    """What is held without being used does not prolong its life."""
    lifetime, _ = make_lifetime(900)
    before = lifetime._used
    with lifetime.hold(use=False):
        pass
    assert lifetime._used == before
    with lifetime.hold():
        pass
    assert lifetime._used > before


async def test_it_ends_at_once_when_told_to_and_only_once() -> None:
    """The doors are closed before the call returns."""
    lifetime, closed = make_lifetime(900)
    lifetime.end("a test")
    lifetime.end("a test")
    assert closed == ["closed"]
    await asyncio.wait_for(lifetime.wait(lambda: True), 50)
