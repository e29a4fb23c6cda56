"""Each real server in each protocol era behind the gateway: what hooks say of a call is done."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client

from tests.mcp.clients import connect, read_text, start_alone
from tests.mcp.servers import CASES, LEGACY, MODERN, Server
from tests.support.mcp.world import ALLOW, DENY, World

SILENCE = ("expired", "cancelled")
"""Whoever notices first: the store, or the gate that asked."""
EACH = pytest.mark.parametrize(("server", "mode"), CASES, indirect=["server"])


@EACH
async def test_what_is_listed_is_what_the_server_lists(
    world: World, server: Server, mode: str
) -> None:
    """Word for word, and so is what it says of itself but for what a hook took out."""
    async with Client(start_alone(world, server), mode=mode) as alone:
        tools, about = await alone.list_tools(), alone.server_info
        capabilities, version = alone.server_capabilities, alone.protocol_version
    async with connect(world, server, mode) as client:
        assert await client.list_tools() == tools
        assert client.server_info == about
        assert (client.server_capabilities, client.protocol_version) == (capabilities, version)
        assert "hidden instruction" not in str(client.instructions)


@EACH
async def test_calls_are_allowed_denied_changed_and_explained(
    world: World, server: Server, mode: str
) -> None:
    """And each of them stands in a trail that can be verified."""

    def is_done(word: str) -> bool:
        return server.has_done is None or server.has_done(world, word)

    async with connect(world, server, mode) as client:

        async def call(word: str) -> tuple[bool, str]:
            result = await client.call_tool(*server.call(world, word))
            return bool(result.is_error), read_text(result)

        failed, _ = await call("plain")
        assert not failed
        assert is_done("plain")
        failed, said = await call("deny-me")
        assert failed
        assert "the-judge-refuses" in said
        failed, said = await call("inject-me")
        assert not failed
        assert said.endswith("the-judge-adds-this")
        assert is_done("inject-me")
        await call("rewrite-me")
        assert is_done("rewritten")
        if server.has_done is not None:
            assert not server.has_done(world, "deny-me")
            assert not server.has_done(world, "rewrite-me")
    trail = world.read_trail()
    name = f"mcp__{server.name}__{server.call(world, '')[0]}"
    assert trail.list_calls() == [
        (name, "continue"),
        (name, "deny"),
        (name, "inject_context"),
        (name, "continue"),
    ]
    assert "rewritten" in str(trail.list_events("tool:pre")[-1]["data"]["tool_input"])
    assert trail.list_types().count("tool_finished") == 3
    assert "session_ended" in trail.list_types()


@EACH
async def test_a_person_decides_while_other_calls_go_on(
    world: World, server: Server, mode: str
) -> None:
    """Yes runs it, no does not, and silence does not either."""
    async with connect(world, server, mode) as client:
        tool, given = server.call(world, "ask-me")
        asked = asyncio.create_task(client.call_tool(tool, given))
        question = await world.wait_for_question()
        assert question.request.tool_input == given
        other = await client.call_tool(*server.call(world, "other"))
        assert not other.is_error
        assert not asked.done()
        await world.decide(question, DENY)
        assert (await asked).is_error
        assert server.has_done is None or not server.has_done(world, "ask-me")
        silent = await client.call_tool(*server.call(world, "ask-shortly"))
        assert silent.is_error
        asked = asyncio.create_task(client.call_tool(tool, given))
        await world.decide(await world.wait_for_question(3), ALLOW)
        assert not (await asked).is_error
        assert server.has_done is None or server.has_done(world, "ask-me")
    rows = sorted(await world.list_asked(), key=lambda one: one.created)
    assert [one.status for one in rows if one.status not in SILENCE] == ["denied", "executed"]
    assert len(rows) == 3
    assert world.read_trail().list_types().count("tool_finished") == 2


@pytest.mark.parametrize(
    ("server", "mode"), [("everything", LEGACY), ("modern", MODERN)], indirect=["server"]
)
async def test_a_thousand_calls_return_while_one_waits_for_a_person(
    world: World, server: Server, mode: str
) -> None:
    """Each with its own answer; a real server and a real client on either side."""
    async with connect(world, server, mode) as client:
        asked = asyncio.create_task(client.call_tool(*server.call(world, "ask-me")))
        question = await world.wait_for_question()
        words = [f"word-{number}." for number in range(1_000)]
        calls = [client.call_tool(*server.call(world, word)) for word in words]
        results = await asyncio.gather(*calls)
        assert all(word in read_text(result) for word, result in zip(words, results, strict=True))
        assert not asked.done()
        await world.decide(question, ALLOW)
        assert "ask-me" in read_text(await asked)
    assert world.read_trail().list_types().count("tool_finished") == 1_001
