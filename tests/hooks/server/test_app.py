"""The app: what it describes, and what runs beside it."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server.app import serve_socket
from tests.hooks.server.world import World, run_app
from tests.support.waiting import wait_until


async def test_every_route_describes_every_status_it_answers_with(world: World):
    """OpenAPI documents every status, 400 for malformed JSON included."""
    async with world.client() as client:
        described = (await client.get("/openapi.json")).json()
    operations = [
        (path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    assert len(operations) >= 35
    wanted = {"400", "401", "403", "404", "409", "413", "415", "422", "429", "503"}
    for path, method, operation in operations:
        assert wanted <= set(operation["responses"]), (method, path)
        assert operation["summary"], path
        assert method in ("get", "post"), path


async def test_nothing_but_the_api_and_the_page_is_served(world: World):
    """No interactive documentation with scripts from elsewhere."""
    async with await world.person() as person:
        for path in ("/docs", "/redoc"):
            answer = await person.get(f"{world.address}{path}")
            assert b"swagger" not in answer.content.lower()


async def test_overdue_approvals_are_swept_while_it_runs(store: Store):
    """Sweepers run in each server."""
    async with run_app(store) as world:
        asked = await world.ask(timeout=0.05)

        async def is_expired() -> bool:
            return (await store.approvals.get(asked.id)).status == "expired"

        await wait_until(is_expired)


async def test_a_route_without_the_guard_is_closed(world: World):
    """If the guard were missing, the socket would let nobody in."""
    bare = Starlette(routes=[WebSocketRoute("/live", serve_socket)])
    bare.state.services = world.services
    with pytest.raises(WebSocketDisconnect) as closed, TestClient(bare).websocket_connect("/live"):
        pass
    assert closed.value.code == 1008
