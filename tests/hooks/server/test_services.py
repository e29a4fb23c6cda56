"""Who may do what."""

from __future__ import annotations

import pytest
from fastapi import HTTPException
from starlette.requests import HTTPConnection

from amplifier_hooks.approvals.models import Identity
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.services import get_caller, get_services, require
from tests.hooks.server.world import World


def connect(caller: object) -> HTTPConnection:
    return HTTPConnection({"type": "http", "headers": [], "state": {"caller": caller}})


async def test_without_a_caller_there_is_no_way_in():
    """The guard puts the caller there; a route that it did not guard fails closed."""
    for caller in (None, "ann", Identity("ann")):
        with pytest.raises(HTTPException) as raised:
            await get_caller(connect(caller))
        assert raised.value.status_code == 401


async def test_a_scope_is_required_and_named():
    """The message says which scope would do."""
    caller = Caller(Identity("ann", frozenset({"read"})), "api")
    assert await require("read")(connect(caller)) is caller
    with pytest.raises(HTTPException, match="'admin'") as raised:
        await require("admin")(connect(caller))
    assert raised.value.status_code == 403


async def test_closing_wakes_whoever_waits_and_sends_everybody_away(world: World):
    """Graceful shutdown: connections are told."""
    services = await get_services(HTTPConnection({"type": "http", "app": world.app, "headers": []}))

    async def is_known() -> bool:
        return True

    watching, subscribing = services.feed.watch("approval", "x"), services.hub.subscribe(is_known)
    with watching as changed, subscribing as subscriber:
        services.close()
        assert changed.is_set()
        assert subscriber.ended == 1001
