"""What the gateway does by itself to go on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hooks.mcp.gateway.http.raw_server import (
    Request,
    ask,
    ask_modern,
    begin,
    run_channel,
    take,
    take_error,
    take_note,
)


class Forgetful:
    """A server that was started again, and does not know the old session."""

    def __init__(self, *versions: str, status: int = 404) -> None:
        self.versions = list(versions)
        self.status = status
        self.sessions = 0

    async def __call__(self, request: Request) -> None:
        session = request.headers.get("mcp-session-id")
        if request.method == "POST" and request.message.get("method") == "initialize":
            self.sessions += 1
            version = self.versions.pop(0)
            await request.reply({"protocolVersion": version}, Mcp_Session_Id=f"s{self.sessions}")
        elif request.method != "POST":
            await request.answer(405)
        elif request.message.get("id") and session == "s1":
            error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
            await request.answer(self.status, {"jsonrpc": "2.0", "id": None, "error": error})
        elif request.message.get("id"):
            await request.reply({"session": session})
        else:
            await request.answer(202)


@pytest.mark.parametrize("status", [404, 400])
async def test_a_session_that_the_server_has_ended_is_begun_anew(status: int):
    """With the client's own words; the calls that met the end are carried out, once each."""
    forgetful = Forgetful("2025-11-25", "2025-11-25", status=status)
    async with run_channel(forgetful) as (channel, server):
        await begin(channel)
        for number in (1, 2):
            await channel.send(ask("tools/call", number))
        assert "a new one was begun" in await take_note(channel)
        answers = [await take(channel) for _ in range(2)]
    assert {one["id"] for one in answers} == {1, 2}
    assert {one["result"]["session"] for one in answers} == {"s2"}
    posted = [one.message["method"] for one in server.requests if one.method == "POST"]
    assert posted.count("initialize") == posted.count("notifications/initialized") == 2


async def test_a_session_that_would_be_another_is_not_begun():
    """The client knows nothing of a new version, so it has to start again itself."""
    async with run_channel(Forgetful("2025-11-25", "2024-11-05")) as (channel, _):
        await begin(channel)
        await channel.send(ask("tools/call"))
        assert "now speaks '2024-11-05'" in await take_error(channel)


async def test_a_session_that_ends_again_and_again_is_an_error():
    """One new try, not one after the other."""

    async def handle(request: Request) -> None:
        if request.method == "POST" and request.message.get("method") == "initialize":
            await request.reply({"protocolVersion": "x"}, Mcp_Session_Id="s")
        else:
            await request.answer(404 if b'"id"' in request.body else 202)

    async with run_channel(handle) as (channel, server):
        await begin(channel)
        await channel.send(ask("tools/call"))
        assert "a new one was begun" in await take_note(channel)
        assert "has ended the session" in await take_error(channel)
    posted = [one.message["method"] for one in server.requests if one.method == "POST"]
    assert posted.count("tools/call") == 2


MARKED = {"type": "string", "x-mcp-header": "Region"}
TOOLS = [
    {"name": "plain", "inputSchema": {}},
    {"name": "query", "inputSchema": {"properties": {"region": MARKED}}},
]


async def _want_headers(request: Request) -> None:
    message = request.message
    if message["method"] == "tools/list":
        page = int(message["params"].get("cursor", 0))
        more = {"nextCursor": "1"} if page == 0 else {}
        await request.reply({"tools": [TOOLS[page]], **more})
    elif request.headers.get("mcp-param-region") == "eu":
        await request.reply({"got": message["params"]["arguments"]})
    else:
        error = {"code": -32020, "message": "Header mismatch"}
        await request.answer(400, {"jsonrpc": "2.0", "id": message["id"], "error": error})


@pytest.mark.parametrize("name", ["query", "plain"])
async def test_tools_are_listed_again_when_a_call_lacks_a_header(name: str):
    """A client may know the tools from before; if that is of no help, it gets the refusal."""
    call: dict[str, Any] = {"name": name, "arguments": {"region": "eu"}}
    async with run_channel(_want_headers) as (channel, server):
        await channel.send(ask_modern("tools/call", 5, **call))
        found = await take(channel)
    assert found["id"] == 5
    assert ("result" in found) == (name == "query")
    methods = [one.message["method"] for one in server.requests]
    assert methods[:3] == ["tools/call", "tools/list", "tools/list"]
    assert methods.count("tools/call") == (2 if name == "query" else 1)
    meta = server.requests[1].message["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
