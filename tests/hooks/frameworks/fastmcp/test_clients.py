"""The clients of a server: which calls belong to one session of ours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastmcp")

from fastmcp import Client, FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

from amplifier_hooks.frameworks.fastmcp import AmplifierMCP
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.fastmcp import make_server
from tests.adapters.stage import Stage
from tests.hooks.frameworks.fastmcp.test_middleware import serve


def govern_server(stage: Stage) -> FastMCP:
    """A server behind hooks."""
    server = make_server(Ran())
    server.add_middleware(AmplifierMCP(stage.hooks))
    return server


def read_sessions(stage: Stage) -> list[Any]:
    """Which of our sessions each call was in."""
    return [one["session"] for one in stage.of_type("tool_started")]


async def call_twice(client: Client[Any]) -> None:
    """Two calls at once."""
    async with client:
        await asyncio.gather(*(client.call_tool("note", {"text": one}) for one in "ab"))


async def test_a_connection_is_one_session(stage: Stage) -> None:
    """From the handshake to the end, also if the first calls come at once; the next is another."""
    stage.listen("session:start", "session:end")
    server = govern_server(stage)
    await call_twice(Client(server, mode="legacy"))
    assert stage.heard.names == ["session:start", "session:end"]
    await call_twice(Client(server, mode="legacy"))
    first, second, third, fourth = read_sessions(stage)
    assert first == second != third == fourth


def test_the_only_client_is_one_session_until_the_program_ends(stage: Stage) -> None:
    """Without a handshake, a server on standard input still has one client."""
    stage.listen("session:start", "session:end")
    server = govern_server(stage)
    asyncio.run(call_twice(Client(server)))
    assert stage.heard.names == ["session:start", "session:end"]
    assert stage.heard.events[1][1]["reason"] == "complete"
    asyncio.run(call_twice(Client(server)))
    first, second, third, fourth = read_sessions(stage)
    assert first == second != third == fourth


async def test_nobody_knows_a_client_that_has_not_signed_in(stage: Stage) -> None:
    """Over HTTP and without a handshake, every request is a session of its own."""
    stage.listen("session:start", "session:end")
    async with serve(govern_server(stage)) as port:
        await call_twice(Client(f"http://127.0.0.1:{port}/mcp"))
    assert stage.heard.names.count("session:start") == stage.heard.names.count("session:end") == 2
    assert len(set(read_sessions(stage))) == 2


async def test_a_user_who_has_signed_in_is_one_session(stage: Stage) -> None:
    """Whatever connections there are; another user is another one."""
    server = govern_server(stage)
    known: dict[str, dict[str, Any]] = {
        name: {"client_id": name, "scopes": []} for name in ("ana", "ben")
    }
    server.auth = StaticTokenVerifier(tokens=known)
    async with serve(server) as port:
        for name in ("ana", "ana", "ben"):
            await call_twice(Client(f"http://127.0.0.1:{port}/mcp", auth=name))
    found = read_sessions(stage)
    assert len(set(found[:4])) == 1
    assert len(set(found)) == 2
