"""The server on a port of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from amplifier_apps.mcp_server.listening import PATH, TokenGate, build_app, take_port
from tests.apps.mcp_server.world import World

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
        for wrong in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            refused = await client.post(PATH, json=START, headers={**HEADERS, **wrong})
            assert refused.status_code in (403, 421)


@pytest.mark.parametrize(
    ("headers", "passes"),
    [
        ([(b"authorization", b"Bearer t")], True),
        ([(b"Authorization", b"Bearer t")], True),
        ([], False),
        ([(b"authorization", b"Bearer t"), (b"authorization", b"Bearer u")], False),
        ([(b"authorization", b"bearer t")], False),
        ([(b"authorization", "Bearer é".encode())], False),
    ],
)
async def test_the_token_is_asked_for_before_anything_else(
    headers: list[tuple[bytes, bytes]], passes: bool
) -> None:
    """Exactly once, exactly as it is."""
    reached: list[str] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["type"])

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {}

    await TokenGate(app, "t")({"type": "http", "headers": headers}, receive, send)
    assert (reached == ["http"]) is passes
    assert [one.get("status") for one in sent] == ([] if passes else [401, None])


def test_a_port_that_another_program_has_is_named() -> None:
    """Before a client is told to come."""
    with take_port("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"Port {port} of 127.0.0.1 cannot be used: Address"):
            take_port("127.0.0.1", port)
