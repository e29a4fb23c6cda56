"""The tools that a session has of a server, and what hooks leave of its lists."""

from __future__ import annotations

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.mcp.calls import Caller
from amplifier_hooks.agent.tools.mcp.client import ServerError
from amplifier_hooks.agent.tools.mcp.tools import (
    McpTool,
    Withheld,
    find_extra_tools,
    judge_list,
    make_extra_tools,
    read_description,
    read_schema,
)
from tests.support.hooks import asks, modifies, raises, says
from tests.support.mcp_links import ADD, FakeServer


async def test_it_is_called_at_the_server_by_its_own_name():
    """With what hooks left of the input."""
    server = FakeServer()
    connection = server.connect()
    await connection.start()
    tool = McpTool("mcp__calc__add", "add", "digest", Caller(TestCoordinator(), connection, 60))
    tool.show(ADD)
    assert (await tool.execute({"a": 1, "b": 2})).output == "3"
    assert server.calls == [("add", {"a": 1, "b": 2})]
    assert tool.description == "Adds."
    assert tool.input_schema == ADD["inputSchema"]
    await connection.close()


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ({"description": "Adds.", "title": "Add"}, "Adds."),
        ({"title": "Add"}, "Add"),
        ({"description": "  "}, "The server says nothing about this tool."),
        ({"description": 3}, "The server says nothing about this tool."),
        ({}, "The server says nothing about this tool."),
    ],
)
def test_models_always_get_a_description(tool, said):
    """They choose by it."""
    assert read_description(tool) == said


@pytest.mark.parametrize(
    ("input", "schema"),
    [
        ({"type": "object", "$defs": {}}, {"type": "object", "$defs": {}}),
        ({"properties": {}}, {"properties": {}, "type": "object"}),
        (None, {"type": "object"}),
        ("odd", {"type": "object"}),
    ],
)
def test_models_always_get_the_schema_of_an_object(input, schema):
    """Some servers leave it out."""
    assert read_schema({"inputSchema": input}) == schema


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
    made = make_extra_tools(host, "calc", BOTH, Caller(host, connection, 60), ())
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
    made = make_extra_tools(host, "calc", ["resources"], caller, names)
    assert [one.name for one in made] == [
        "mcp__calc__mcp_list_resources",
        "mcp__calc__mcp_read_resource",
    ]
    taken = [*names, *(one.replace("calc__", "calc__mcp_") for one in names)]
    assert list(make_extra_tools(host, "calc", ["resources"], caller, taken)) == []


async def test_a_server_that_lists_nothing_offers_nothing(server):
    """Many say that they have resources and prompts, and have none."""
    async with server.open(None) as client:
        assert await find_extra_tools(client) == ["resources", "prompts"]
        server.lists["prompts/list"] = []
        assert await find_extra_tools(client) == ["resources"]
        server.lists["resources/list"] = ServerError("not supported")
        assert await find_extra_tools(client) == ["resources"]
        server.lists["resources/templates/list"] = []
        assert await find_extra_tools(client) == []
        server.lists["resources/list"] = ServerError("gone", lost=True)
        with pytest.raises(ServerError):
            await find_extra_tools(client)


ITEMS = [{"name": "add"}, {"name": "sub"}]


async def judge(*hooks, host=None, **options):
    host = host or TestCoordinator()
    for one in hooks:
        host.hooks.register("mcp:list", one, **options)
    return await judge_list(host, "calc", "tools/list", ITEMS)


async def test_without_hooks_everything_is_left():
    """As the server says it."""
    assert await judge() == ITEMS


async def test_a_hook_can_change_and_leave_out():
    """What it leaves is what a model reads."""
    assert await judge(modifies(items=[{"name": "add"}])) == [{"name": "add"}]


async def test_a_hook_can_withhold_all():
    """With its reason."""
    with pytest.raises(Withheld, match="looks poisoned"):
        await judge(says("deny", reason="looks poisoned"))


@pytest.mark.parametrize("items", [None, "add", ["add"]])
async def test_what_is_no_list_any_more_is_withheld(items):
    """Nobody guesses what a hook meant."""
    with pytest.raises(Withheld, match="no usable list"):
        await judge(modifies(items=items))


async def test_a_guard_that_fails_withholds():
    """As everywhere."""
    with pytest.raises(Withheld):
        await judge(raises(RuntimeError("broken")), on_error="deny")


async def test_a_host_that_can_only_emit_is_enough():
    """There nobody can be asked, and what nobody allowed is withheld."""

    class Plain:
        hooks = HookRegistry()

    assert await judge(host=Plain()) == ITEMS
    with pytest.raises(Withheld):
        await judge(asks(), host=Plain())


async def test_a_host_that_fails_withholds():
    """What nobody has judged, nobody reads."""

    class Broken:
        hooks = HookRegistry()

        async def execute_with_hooks(self, event, data):
            raise RuntimeError("broken")

    with pytest.raises(Withheld, match="could not judge it"):
        await judge(host=Broken())
