"""What both databases have in common."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest

from amplifier_hooks.approvals.stores.engine import (
    ANY,
    LIMIT,
    SOMETHING,
    Change,
    Engine,
    Listeners,
    Transaction,
)
from amplifier_hooks.approvals.stores.postgres import PostgresEngine
from amplifier_hooks.approvals.stores.postgres_connection import PostgresTransaction
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.sqlite_connection import SqliteTransaction


def list_methods(kind: Any) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        (Engine, SqliteEngine),
        (Engine, PostgresEngine),
        (Transaction, SqliteTransaction),
        (Transaction, PostgresTransaction),
    ],
)
def test_both_databases_have_what_the_protocol_asks_for(protocol: Any, kind: Any) -> None:
    """The same names with the same parameters."""
    wanted, offered = list_methods(protocol), list_methods(kind)
    assert wanted
    assert {name: offered.get(name) for name in wanted} == wanted


def test_changes_that_say_the_same_are_one() -> None:
    """So that a burst about one approval is one piece of news."""
    assert len({Change("approval", "a"), Change("approval", "a"), Change(ANY, ANY)}) == 2


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
