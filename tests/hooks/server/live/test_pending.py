"""All approvals that wait."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.server.live import hub as pending_module
from amplifier_hooks.server.live.hub import PendingList, Update
from tests.hooks.server.world import World


async def test_every_page_is_read_and_many_who_come_at_once_cost_one_reading(
    world: World, monkeypatch
):
    """The full list, however many people come."""
    monkeypatch.setattr(pending_module, "_PAGE", 2)
    asked = [(await world.ask()).id for _ in range(5)]
    reads = []
    store = world.store

    class Counting:
        @property
        def approvals(self):
            return self

        async def list(self, wanted):
            reads.append(wanted)
            return await store.approvals.list(wanted)

    pending = PendingList(cast(Any, Counting()))
    lists = await asyncio.gather(*(pending.read() for _ in range(20)))
    assert all([one.payload.count('"id"') for one in found] for found in lists)
    assert [asked[at] in one.payload for at, one in enumerate(lists[0])] == [True] * 5
    assert len(reads) == 3
    pending.forget()
    await pending.read()
    assert len(reads) == 6


async def test_a_noted_change_is_in_the_list_without_another_reading(world: World):
    """A question that came, one that ended, and the time that is left of another."""
    first, second = await world.ask(), await world.ask()
    pending = PendingList(world.store)
    before = {one["id"]: one for one in map(decode, await pending.read())}
    assert before.keys() == {first.id, second.id}
    third = await world.ask()
    pending.note(third)
    pending.note(await world.store.approvals.withdraw(first.id))
    after = {one["id"]: one for one in map(decode, await pending.read())}
    assert after.keys() == {second.id, third.id}
    assert 0 < after[second.id]["seconds_left"] < before[second.id]["seconds_left"]
    del after[second.id]["seconds_left"], before[second.id]["seconds_left"]
    assert after[second.id] == before[second.id]


async def test_what_is_noted_while_all_are_read_is_not_lost(world: World):
    """The page of the list that it stands on may have been read before."""
    asked = await world.ask()
    reading, go_on = asyncio.Event(), asyncio.Event()

    class Slow:
        @property
        def approvals(self):
            return self

        async def list(self, wanted):
            found = await world.store.approvals.list(wanted)
            reading.set()
            await go_on.wait()
            return found

    pending = PendingList(cast(Any, Slow()))
    listing = asyncio.create_task(pending.read())
    await reading.wait()
    pending.note(await world.store.approvals.withdraw(asked.id))
    late = await world.ask()
    pending.note(late)
    go_on.set()
    assert [one["id"] for one in map(decode, await listing)] == [late.id]


async def test_what_is_sent_first_is_what_the_store_has_after_many_changes(world: World):
    """Through the hub, as everybody who opens the page gets it."""
    hub = world.services.hub

    async def yes() -> bool:
        return True

    with hub.subscribe(yes) as subscriber:
        await hub.pending.read()
        asked = [await world.ask() for _ in range(6)]
        for one in asked[::2]:
            await world.store.approvals.withdraw(one.id)
        told: list[str] = []
        while told.count("cancelled") < 3:
            update = await subscriber.take()
            assert update is not None
            told.append(json.loads(update.payload).get("status", ""))
        listed = {one["id"] for one in map(decode, await hub.pending.read())}
    assert listed == {one.id for one in asked[1::2]}


def decode(update: Update) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(update.payload)
    return found


async def test_a_list_that_could_not_be_read_is_not_taken_for_an_empty_one(world: World):
    """Whoever comes next is not told that nothing waits."""
    await world.ask()
    store = world.store

    class Failing:
        fails = True

        @property
        def approvals(self):
            return self

        async def list(self, wanted):
            if self.fails:
                raise StoreUnavailable("gone")
            return await store.approvals.list(wanted)

    failing = Failing()
    pending = PendingList(cast(Any, failing))
    with pytest.raises(StoreUnavailable):
        await pending.read()
    failing.fails = False
    assert len(await pending.read()) == 1
