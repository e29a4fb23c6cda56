"""What is whose."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import NotAllowed, NotFound
from amplifier_hooks.approvals.models import Identity, SessionEntry
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.routes.agents import (
    get_own_approval,
    refuse_foreign_call,
    refuse_foreign_session,
)
from tests.hooks.server.world import World

BOT = Caller(Identity("bot", frozenset({"agent"})), "api")
OTHER = Caller(Identity("other", frozenset({"agent"})), "api")


async def test_an_agent_does_not_learn_of_anothers_approval(world: World):
    """Agents see only their own: another's looks as if it were not there."""
    asked = await world.ask()
    assert (await get_own_approval(world.services, BOT, asked.id)).id == asked.id
    with pytest.raises(NotFound) as foreign:
        await get_own_approval(world.services, OTHER, asked.id)
    with pytest.raises(NotFound) as unknown:
        await get_own_approval(world.services, OTHER, "0" * 32)
    assert str(foreign.value).replace(asked.id, "") == str(unknown.value).replace("0" * 32, "")


async def test_a_session_is_of_who_reported_it_first(world: World):
    """A session id of another user is refused."""
    await refuse_foreign_session(world.services, OTHER, "session-1")
    await world.ask()
    with pytest.raises(NotAllowed):
        await refuse_foreign_session(world.services, OTHER, "session-1")
    await world.store.sessions.save(SessionEntry(id="s", user="other"))
    await refuse_foreign_session(world.services, OTHER, "s")
    with pytest.raises(NotAllowed):
        await refuse_foreign_session(world.services, BOT, "s")


async def test_a_call_is_of_who_asked_about_it(world: World):
    """Nobody runs what another was allowed to."""
    await world.ask(tool_call_id="c")
    await refuse_foreign_call(world.services, BOT, "session-1", "c")
    await refuse_foreign_call(world.services, OTHER, "session-1", "another")
    with pytest.raises(NotAllowed):
        await refuse_foreign_call(world.services, OTHER, "session-1", "c")
