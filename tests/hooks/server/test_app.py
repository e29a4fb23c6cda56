"""The app: what it describes, and what runs beside it."""

from __future__ import annotations

import re

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server import description
from amplifier_hooks.server.app import serve_socket
from amplifier_hooks.server.description import list_operations
from tests.hooks.server.world import World, run_app
from tests.support.waiting import wait_until


async def test_every_route_describes_the_statuses_it_can_answer_with(world: World):
    """400 for malformed JSON included; none that it never gives."""
    async with world.client() as client:
        described = (await client.get("/openapi.json")).json()
    operations = list(list_operations(described))
    assert len(operations) >= 40
    for path, method, operation in operations:
        told = set(operation["responses"])
        assert {"400", "429", "503"} <= told, path
        assert operation["summary"], path
        assert method in ("get", "post"), path
        assert ("404" in told) == ("{" in path), path
        assert ({"413", "415", "408"} <= told) == ("requestBody" in operation), path
        assert "405" not in told, path
    conflicting = {one["operationId"] for _, _, one in operations if "409" in one["responses"]}
    assert conflicting == description._CONFLICTING
    assert {one["operationId"] for _, _, one in operations if "401" not in one["responses"]} == {
        "get_health",
        "get_readiness",
    }


async def test_generated_clients_can_name_operations_and_authenticate(world: World):
    """A plain name for each, once; a token, or a login with its proof; none for public ones."""
    described = world.app.openapi()
    operations = {one["operationId"]: one for _, _, one in list_operations(described)}
    assert len(operations) == len(list(list_operations(described)))
    assert all(re.fullmatch("[a-z_]{5,30}", name) for name in operations)
    assert described["components"]["securitySchemes"].keys() == {"token", "login", "csrf"}
    assert described["security"] == [{"token": []}, {"login": [], "csrf": []}]
    public = {name for name, one in operations.items() if one.get("security") == []}
    assert public == {"get_health", "get_readiness", "log_in"}
    assert operations["judge_event"]["security"] == [{"token": []}]
    assert public <= {name for name, one in operations.items() if "security" in one}


async def test_every_example_is_a_body_that_is_taken(world: World):
    """Whatever becomes of it, no field of it is wrong."""
    described = world.app.openapi()
    token = await world.token("all", "read", "run")
    judged = await world.token("judged", "judge")
    tried = 0
    for path, _, operation in list_operations(described):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in content.get("examples", {}).values():
            sent = judged if "/judge/" in path else token
            async with world.client(Authorization=f"Bearer {sent}") as client:
                address = f"{world.address}{re.sub('{.*?}', 'x', path)}"
                answer = await client.post(address, json=example["value"])
            assert answer.status_code not in (400, 422), (path, answer.text)
            tried += 1
    assert tried == sum(len(one) for one in description.EXAMPLES.values()) >= 10


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
