"""Published records."""

from __future__ import annotations

import asyncio

from amplifier_hooks.approvals.models import SessionRecord
from amplifier_hooks.approvals.stores.store import Store


async def test_listeners_hear_which_session_published(store: Store) -> None:
    """Once for a batch; an empty batch is no news."""
    async with store.listen() as changes:
        await store.records.publish("s", [])
        await store.records.publish(
            "s", [SessionRecord(number=n, time=1.0, type="x") for n in (1, 2, 3)]
        )
        change = await asyncio.wait_for(anext(changes), 30)
    assert (change.topic, change.subject) == ("records", "s")


async def test_records_are_read_in_pages_by_number(store: Store) -> None:
    """Whatever order they came in."""
    await store.records.publish(
        "s", [SessionRecord(number=n, time=1.0, type="x") for n in (5, 1, 3)]
    )
    await store.records.publish("other", [SessionRecord(number=2, time=1.0, type="x")])
    assert [one.number for one in await store.records.read("s", limit=2)] == [1, 3]
    assert [one.number for one in await store.records.read("s", after=3)] == [5]
