"""Listeners: told from any thread; slow ones are told that something changed."""

from __future__ import annotations

import asyncio
import threading

from amplifier_hooks.approvals.stores.engine import LIMIT, SOMETHING, Change, Listeners


def publish_from_thread(listeners: Listeners, *changes: Change) -> None:
    thread = threading.Thread(target=listeners.publish, args=(changes,))
    thread.start()
    thread.join()


async def test_everybody_hears_everything_in_order() -> None:
    """From the moment they listen."""
    listeners = Listeners()
    assert not listeners
    news = [Change("approval", str(number)) for number in range(3)]
    async with listeners.listen() as first, listeners.listen() as second:
        publish_from_thread(listeners, *news)
        for changes in (first, second):
            assert [await anext(changes) for _ in news] == news
    assert not listeners


async def test_a_slow_listener_gets_one_star_for_what_it_missed() -> None:
    """However much that is, its memory is bounded."""
    listeners = Listeners()
    async with listeners.listen() as changes:
        publish_from_thread(listeners, *[Change("approval", str(n)) for n in range(LIMIT + 1)])
        publish_from_thread(listeners, Change("approval", "last"))
        assert await anext(changes) == SOMETHING
        assert await anext(changes) == Change("approval", "last")


async def test_closing_ends_the_iteration() -> None:
    """After what was told before."""
    listeners = Listeners()
    async with listeners.listen() as changes:
        listeners.publish([Change("rule", "1")])
        listeners.close()
        assert [one async for one in changes] == [Change("rule", "1")]


def test_a_listener_in_a_closed_loop_harms_nobody() -> None:
    """It is passed over until it is forgotten."""
    listeners = Listeners()
    entered = listeners.listen()

    async def enter() -> None:
        await entered.__aenter__()

    asyncio.run(enter())
    listeners.publish([SOMETHING])

    async def listen() -> Change:
        async with listeners.listen() as changes:
            listeners.publish([SOMETHING])
            return await anext(changes)

    assert asyncio.run(listen()) == SOMETHING
    asyncio.run(leave(entered))
    assert not listeners


async def leave(entered: object) -> None:
    await entered.__aexit__(None, None, None)  # type: ignore[attr-defined]
