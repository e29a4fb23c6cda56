"""All approvals that wait."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from amplifier_apps.web.live import pending as pending_module
from amplifier_apps.web.live.pending import PendingList
from tests.apps.web.world import World


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
