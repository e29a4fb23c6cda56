"""Records are published beside the agent, and never at its expense."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.reporting import Publisher, write_record
from amplifier_hooks.approvals.stores.store import Store
from tests.support.links import CutLink
from tests.support.waiting import wait_until


def add(publisher: Publisher, *numbers: int, session: str = "s") -> None:
    for number in numbers:
        publisher.add(session, write_record(number, "x", {"n": number}))


async def read(store: Store, session: str = "s") -> list[Any]:
    return [(one.number, one.type) for one in await store.records.read(session)]


async def test_what_was_added_is_there_when_the_publisher_is_closed(store: Store) -> None:
    """In order, for each session."""
    publisher = Publisher(store.as_link())
    add(publisher, 1, 2)
    add(publisher, 1, session="t")
    add(publisher, 3)
    await publisher.close()
    assert await read(store) == [(1, "x"), (2, "x"), (3, "x")]
    assert await read(store, "t") == [(1, "x")]


async def test_what_comes_while_records_are_sent_is_gathered_too(store: Store) -> None:
    """A session at work would have a transaction of the store for each of its records."""
    sent = asyncio.Event()
    batches: list[int] = []

    class Busy(CutLink):
        async def publish(self, session_id: str, records: Any) -> None:
            await self._link.publish(session_id, records)
            batches.append(len(records))
            if not sent.is_set():
                add(publisher, 2)
                sent.set()

    publisher = Publisher(Busy(store))
    add(publisher, 1)
    await sent.wait()
    add(publisher, 3)
    await publisher.close()
    assert batches == [1, 2]
    assert await read(store) == [(1, "x"), (2, "x"), (3, "x")]


async def test_while_nobody_answers_records_wait(store: Store) -> None:
    """They arrive once the store is back, each once."""
    link = CutLink(store)
    link.is_cut = True
    publisher = Publisher(link, pause=0.01)
    add(publisher, 1, 2)
    await wait_until(lambda: link.calls.count("publish") > 1)
    link.is_cut = False
    await publisher.close()
    assert await read(store) == [(1, "x"), (2, "x")]


async def test_a_queue_that_is_full_drops_the_oldest_and_says_how_many(store: Store) -> None:
    """Its place in the order is where they are missing."""
    link = CutLink(store)
    publisher = Publisher(link, limit=3, pause=0.01)
    add(publisher, *range(1, 9))
    await publisher.close()
    found = await store.records.read("s")
    assert [(one.number, one.type) for one in found] == [
        (5, "records_dropped"),
        (6, "x"),
        (7, "x"),
        (8, "x"),
    ]
    assert found[0].body == {"count": 5}


async def test_what_is_refused_is_not_sent_for_ever(store: Store) -> None:
    """The next ones are."""

    class Picky(CutLink):
        async def publish(self, session_id: str, records: Any) -> None:
            if session_id == "bad":
                raise BadRequest("no")
            await self._link.publish(session_id, records)

    publisher = Publisher(Picky(store))
    add(publisher, 1, session="bad")
    add(publisher, 1)
    await publisher.close()
    assert await read(store) == [(1, "x")]


async def test_closing_does_not_wait_for_a_store_that_stays_away(store: Store) -> None:
    """And leaves no task."""
    link = CutLink(store)
    link.is_cut = True
    before = asyncio.all_tasks()
    publisher = Publisher(link)
    add(publisher, 1)
    await publisher.close(grace=0.05)
    assert asyncio.all_tasks() == before
    await Publisher(link).close()
