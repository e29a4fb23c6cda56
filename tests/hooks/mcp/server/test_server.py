"""The toolbox as an MCP server, for both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from amplifier_hooks.mcp.server.server import BUNDLE, PATH, TOOLS, build_app, build_server
from tests.hooks.mcp.server.world import MINE, SECRET, World

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


ERAS = ["legacy", "2026-07-28"]


def read_text(parts: Sequence[object]) -> str:
    """The one text of an answer."""
    (part,) = parts
    assert isinstance(part, TextContent | TextResourceContents)
    return part.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_of_each_era_lists_and_calls_tools_that_only_read(
    era: str, full_world: World
) -> None:
    """With words, with members that the client checks against the schema, and with refusals."""
    toolbox = full_world.open()
    async with toolbox, Client(build_server(toolbox), mode=era) as client:
        tools = (await client.list_tools()).tools
        assert [one.name for one in tools] == list(toolbox.tools)
        for tool in tools:
            hints = tool.annotations
            assert hints is not None
            assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
            assert tool.output_schema is not None
        found = await client.call_tool("search_trail", {"tool": "Bash", "limit": 1})
        assert found.structured_content["records"][0]["session"] == MINE
        assert read_text(found.content).startswith("1 record, the newest first")
        assert SECRET not in found.model_dump_json()
        refused = await client.call_tool("get_record", {"session": "../x", "sequence": 0})
        assert refused.is_error
        assert read_text(refused.content).startswith("session: give the id")
        unknown = await client.call_tool("allow", {"id": "a1"})
        assert unknown.is_error
        assert read_text(unknown.content).startswith("There is no tool 'allow'")


@pytest.mark.parametrize("era", ERAS)
async def test_resources_tell_of_the_bundle_and_of_the_tools(era: str, world: World) -> None:
    """As long as a person trusts the bundle; others do not exist."""
    toolbox = world.open()
    async with toolbox, Client(build_server(toolbox), mode=era) as client:
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == [BUNDLE, TOOLS]
        assert 'name: "default"' in read_text((await client.read_resource(BUNDLE)).contents)
        assert "## check_call" in read_text((await client.read_resource(TOOLS)).contents)
        with pytest.raises(MCPError, match="There is no resource"):
            await client.read_resource("file:///etc/passwd")
    world.save_bundle(trusted=False)
    async with Client(build_server(world.open()), mode=era) as client:
        with pytest.raises(MCPError, match="amplifier trust"):
            await client.read_resource(BUNDLE)
