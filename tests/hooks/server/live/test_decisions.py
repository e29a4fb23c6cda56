"""Deciding: the same for requests and for sockets."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import NotAllowed
from amplifier_hooks.approvals.models import Identity
from amplifier_hooks.server.bodies import DecisionBody
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.live.decisions import decide
from tests.hooks.server.world import World, allow


async def test_who_decides_is_what_the_credential_says(world: World):
    """Identity from the authenticated channel only."""
    asked = await world.ask()
    caller = Caller(Identity("ann", frozenset({"decide"})), "web")
    body = DecisionBody(**allow(asked, comment="go"))
    decided = await decide(world.store, caller, asked.id, body)
    assert (decided.decided_by, decided.decided_via, decided.comment) == ("ann", "web", "go")


async def test_without_the_scope_nothing_is_decided(world: World):
    """Nor with an agent's credential, whatever else it has."""
    asked = await world.ask()
    for scopes in ({"read"}, {"agent", "decide"}, set()):
        caller = Caller(Identity("bot", frozenset(scopes)), "api")
        with pytest.raises(NotAllowed):
            await decide(world.store, caller, asked.id, DecisionBody(**allow(asked)))
    assert (await world.store.approvals.get(asked.id)).status == "pending"
