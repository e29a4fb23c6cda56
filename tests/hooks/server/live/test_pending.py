"""All approvals that wait."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.server.live import hub as pending_module
from amplifier_hooks.server.live.hub import PendingList
from tests.hooks.server.world import World


async def test_every_page_is_read_and_many_who_come_at_once_cost_one_reading(
    world: World, monkeypatch
):
    """The full list, however many people come."""
    monkeypatch.setattr(pending_module, "_PAGE", 2)
    monkeypatch.setattr(pending_module, "_FRESH_SECONDS", 3600.0)
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
