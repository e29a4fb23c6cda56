"""What to tell when the store said only that something changed."""

from __future__ import annotations

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.server.live.hub import RecentChanges
from tests.hooks.server.world import World


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
