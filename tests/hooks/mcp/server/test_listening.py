"""The server on a port of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from amplifier_hooks.mcp.server.listening import PATH, build_app
from tests.hooks.mcp.server.world import World

TOKEN = "the-token-of-this-server"
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
START = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@asynccontextmanager
async def running(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    """The application, reached without a socket."""
    gate = build_app(world.open(), "127.0.0.1", 8765, TOKEN)
    application: Any = gate.app
    async with (
        application.router.lifespan_context(application),
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(gate), base_url="http://127.0.0.1:8765"
        ) as client,
    ):
        yield client


async def test_only_who_has_the_token_and_comes_from_this_machine_gets_in(
    full_world: World,
) -> None:
    """Other accounts have no token; a web page has another origin, or another name for us."""
    async with running(full_world) as client:
        good = await client.post(PATH, json=START, headers=HEADERS)
        assert good.status_code == 200
        assert "serverInfo" in good.text
        for wrong in ({"Authorization": ""}, {"Authorization": "Bearer other"}):
            refused = await client.post(PATH, json=START, headers={**HEADERS, **wrong})
            assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        for wrong, status in (
            ({"Host": "evil.example"}, 421),
            ({"Origin": "https://evil.example"}, 403),
        ):
            refused = await client.post(PATH, json=START, headers={**HEADERS, **wrong})
            assert refused.status_code == status
