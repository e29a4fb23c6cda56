"""Resources and prompts of a server, as tools."""

from __future__ import annotations

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.mcp.calls import Caller
from amplifier_hooks.agent.tools.mcp.link import LinkError
from amplifier_hooks.agent.tools.mcp.offered_tools import find_offered, make_offered_tools
from tests.support.hooks import says
from tests.support.mcp_links import FakeServer

BOTH = ("resources", "prompts")


@pytest.fixture
def server():
    made = FakeServer()
    made.lists["resources/list"] = [{"uri": "demo://a", "name": "a"}]
    made.lists["resources/templates/list"] = [{"uriTemplate": "demo://{x}", "name": "x"}]
    made.lists["prompts/list"] = [{"name": "hello"}]
    return made


@pytest.fixture
def host():
    return TestCoordinator()


@pytest.fixture
async def tools(server, host):
    """By their names behind the server's."""
    connection = server.connect()
    await connection.start()
    made = make_offered_tools(host, "calc", BOTH, Caller(host, connection, 60), ())
    yield {tool.name.removeprefix("mcp__calc__"): tool for tool in made}
    await connection.close()


async def test_resources_are_listed_with_the_templates_of_their_addresses(tools):
    """As the server describes them."""
    result = await tools["list_resources"].execute({})
    assert [one["name"] for one in result.output] == ["a", "x"]


async def test_a_resource_is_read_by_its_address(tools):
    """A single text is no list."""
    assert (await tools["read_resource"].execute({"uri": "demo://a"})).output == (
        "content of demo://a"
    )


async def test_a_prompt_is_filled_in(tools):
    """Its arguments are texts on the wire."""
    result = await tools["get_prompt"].execute({"name": "hello", "arguments": {"n": 3}})
    assert "{'n': '3'}" in result.output[0]["content"]["text"]
    assert (await tools["list_prompts"].execute({})).output == [{"name": "hello"}]


async def test_hooks_judge_the_lists(tools, host):
    """Before a model reads them."""
    host.hooks.register("mcp:list", says("deny", reason="looks poisoned"))
    result = await tools["list_resources"].execute({})
    assert not result.success
    assert "looks poisoned" in result.output


async def test_what_is_missing_in_a_call_is_named(tools):
    """As by every tool of ours."""
    result = await tools["read_resource"].execute({})
    assert "'uri' is required" in result.output


async def test_the_servers_own_tools_keep_their_names(host, server):
    """Ours make way for them, twice if they must."""
    caller = Caller(host, server.connect(), 60)
    names = ["mcp__calc__list_resources", "mcp__calc__read_resource"]
    made = make_offered_tools(host, "calc", ["resources"], caller, names)
    assert [one.name for one in made] == [
        "mcp__calc__mcp_list_resources",
        "mcp__calc__mcp_read_resource",
    ]
    taken = [*names, *(one.replace("calc__", "calc__mcp_") for one in names)]
    assert list(make_offered_tools(host, "calc", ["resources"], caller, taken)) == []


async def test_a_server_that_lists_nothing_offers_nothing(server):
    """Many say that they have resources and prompts, and have none."""
    async with server.open(None) as link:
        assert await find_offered(link) == ["resources", "prompts"]
        server.lists["prompts/list"] = []
        assert await find_offered(link) == ["resources"]
        server.lists["resources/list"] = LinkError("not supported")
        assert await find_offered(link) == ["resources"]
        server.lists["resources/templates/list"] = []
        assert await find_offered(link) == []
        server.lists["resources/list"] = LinkError("gone", lost=True)
        with pytest.raises(LinkError):
            await find_offered(link)
