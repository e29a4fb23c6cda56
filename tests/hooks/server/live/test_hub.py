"""From a change in the store to every socket."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import TooMany
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord
from amplifier_hooks.approvals.stores.engine import ANY, Change
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.server.live.hub import Subscriber
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
