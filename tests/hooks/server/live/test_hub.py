"""From a change in the store to every socket."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable, TooMany
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord
from amplifier_hooks.approvals.stores.engine import ANY, Change
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.server.live import hub as pending_module
from amplifier_hooks.server.live.hub import (
    PING,
    QUEUE,
    PendingList,
    RecentChanges,
    Subscriber,
    Update,
    make_update,
    say,
)
from tests.hooks.server.world import World, make_request


async def yes() -> bool:
    return True


async def hear(subscriber: Subscriber, kind: str) -> Any:
    """The next message of a kind."""
    while True:
        update = await subscriber.take()
        if update.type == kind:
            return json.loads(update.message)


async def test_a_change_is_read_once_and_told_to_hundreds(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """On a change read the row once, encode once, fan out to all."""
    reads = []
    approvals = world.store.approvals
    get = approvals.get

    async def counting(id: str):
        reads.append(id)
        return await get(id)

    monkeypatch.setattr(approvals, "get", counting)
    hub = world.services.hub
    subscribing = [hub.subscribe(yes) for _ in range(300)]
    everybody = [one.__enter__() for one in subscribing]
    asked = await world.ask()
    told = [(await hear(one, "approval"))["approval"]["id"] for one in everybody]
    assert told == [asked.id] * 300
    assert reads.count(asked.id) <= 2
    for one in subscribing:
        one.__exit__(None, None, None)


async def test_what_another_process_wrote_is_told_as_well(world: World, tmp_path):
    """Several servers and agents on one database."""
    with world.services.hub.subscribe(yes) as subscriber:
        async with await open_store(tmp_path / "store" / "store.db") as elsewhere:
            asked = await elsewhere.approvals.request(make_request(key="elsewhere"))
            message = await hear(subscriber, "approval")
    assert message["approval"]["id"] == asked.id


async def test_records_go_to_those_who_watch_each_from_its_own_place(world: World):
    """Nobody gets a record twice, or one of another session."""
    records = [SessionRecord(number=number, time=1.0, type="dispatch") for number in range(1, 1201)]
    await world.store.records.publish("s", records[:700])
    await world.store.records.publish("s", records[700:])
    hub = world.services.hub
    with hub.subscribe(yes) as one, hub.subscribe(yes) as other, hub.subscribe(yes) as third:
        hub.watch(one, "s", 0)
        hub.watch(other, "s", 1199)
        hub.watch(third, "another", 0)
        numbers: list[int] = []
        while len(numbers) < 1200:
            numbers += [record["number"] for record in (await hear(one, "records"))["records"]]
        assert numbers == list(range(1, 1201))
        assert [r["number"] for r in (await hear(other, "records"))["records"]] == [1200]
        assert third._queue.empty()


async def test_there_is_room_for_so_many(world: World):
    """A limit on sockets and streams together."""
    hub = world.services.hub
    hub._most = 1
    with hub.subscribe(yes):
        assert not hub.has_room
        with pytest.raises(TooMany), hub.subscribe(yes):
            pass
    assert hub.has_room


async def test_whose_credential_ends_is_sent_away(world: World):
    """A token that is revoked closes its connections."""

    async def no() -> bool:
        return False

    hub = world.services.hub
    with hub.subscribe(no) as gone, hub.subscribe(yes) as still_there:
        await hub.check_credentials()
        assert (gone.ended, still_there.ended) == (1008, 0)


async def test_a_store_that_fails_is_asked_again(world: World, monkeypatch):
    """What could not be read is told later."""
    from amplifier_hooks.approvals.errors import StoreUnavailable
    from amplifier_hooks.server.live import hub as hub_module

    monkeypatch.setattr(hub_module, "RETRY_SECONDS", 0.001)
    get, failures = world.store.sessions.get, [1]

    async def failing(id: str):
        if failures:
            failures.pop()
            raise StoreUnavailable("gone")
        return await get(id)

    monkeypatch.setattr(world.store.sessions, "get", failing)
    with world.services.hub.subscribe(yes) as subscriber:
        await world.store.sessions.save(SessionEntry(id="s", user="bot"))
        assert (await hear(subscriber, "session"))["session"]["id"] == "s"


async def test_many_changes_of_one_thing_are_one(world: World):
    """Hints, not news: the row is the truth."""
    hub = world.services.hub
    for _ in range(10):
        hub.receive(Change("approval", "x"))
        hub.receive(Change(ANY, ANY))
    assert len(hub._news) == 2


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


async def test_what_changed_since_the_last_look_is_found_once(world: World):
    """Processes that share a file tell one another no more than that."""
    recent = RecentChanges(world.store)
    await world.ask()
    assert await recent.read() == []
    asked = await world.ask()
    await world.store.sessions.save(SessionEntry(id="s", user="bot"))
    assert {asked.id, "s"} <= {value.id for value in await recent.read()}
    assert await recent.read() == []
    await world.store.approvals.withdraw(asked.id)
    assert [one.status for one in await recent.read()] == ["cancelled"]
    assert await recent.read() == []


async def test_what_was_told_already_is_not_told_again(world: World):
    """News that named its subject came first."""
    recent = RecentChanges(world.store)
    await recent.read()
    change = Change("approval", (await world.ask()).id)
    assert [one.id for one in await recent.read_one(change)] == [change.subject]
    assert await recent.read() == []
    assert await recent.read_one(Change("session", "gone")) == []


async def test_what_is_offered_is_taken_in_order():
    """A queue."""
    subscriber, other = Subscriber(yes), say(type="other")
    subscriber.offer(PING)
    subscriber.offer(other)
    assert [await subscriber.take(), await subscriber.take()] == [PING, other]


async def test_a_full_queue_ends_it():
    """Bounded queues: whoever reads too slowly is cut off, with 1013."""
    subscriber, ends = Subscriber(yes), []
    subscriber.on_end = lambda: ends.append(subscriber.ended)
    for _ in range(QUEUE):
        subscriber.offer(PING)
    assert (subscriber.ended, QUEUE) == (0, 256)
    subscriber.offer(PING)
    assert ends == [1013]
    subscriber.offer(PING)
    assert await subscriber.take() is None
    assert subscriber._queue.qsize() <= 1


async def test_it_ends_once():
    """The first reason counts."""
    subscriber, ends = Subscriber(yes), []
    subscriber.on_end = lambda: ends.append(1)
    subscriber.end(1001)
    subscriber.end(1013)
    assert (subscriber.ended, ends) == (1001, [1])
    assert await subscriber.take() is None


def test_news_are_encoded_once_for_sockets_and_streams():
    """Read once, encoded once, told to all."""
    update = make_update(SessionEntry(id="ä\n"))
    told = json.loads(update.message)
    assert (told["type"], told["session"]["id"]) == ("session", "ä\n")
    event, data, *rest = update.event.split("\n")
    assert event == "event: session"
    assert json.loads(data.removeprefix("data: ")) == told["session"]
    assert rest == ["", ""]
    assert update.message is update.message


def test_a_message_of_its_own_is_what_was_said():
    """Welcome, decided, refused, ping."""
    assert json.loads(say(type="decided", key="k").message) == {"type": "decided", "key": "k"}
    assert json.loads(PING.message) == {"type": "ping"}
