"""The tools of a server, and calls of them."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ImageBlock
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.agent.tools.mcp.client import ServerError
from amplifier_hooks.agent.tools.mcp.connection import Connection
from amplifier_hooks.agent.tools.mcp.tools import (
    Caller,
    McpTool,
    Withheld,
    describe_input,
    find_extra_tools,
    judge_list,
    make_extra_tools,
    make_progress,
    read_description,
    read_parts,
    read_schema,
    read_tool_answer,
)
from tests.support.hooks import asks, modifies, raises, says
from tests.support.mcp_links import ADD, FakeServer, make_answer
from tests.support.waiting import wait_until


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


PNG = "iVBORw0KGgo="


def test_a_text_is_a_text():
    """As it is."""
    result = read_tool_answer({"content": [{"type": "text", "text": "3"}]})
    assert (result.success, result.output, result.content) == (True, "3", None)


def test_an_image_goes_to_the_model_and_is_described_to_hooks():
    """Base64 would fill what a model reads."""
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    result = read_tool_answer({"content": [{"type": "text", "text": "Look:"}, image]})
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert result.content == [ImageBlock(source=source)]
    assert PNG not in str(result.output)
    assert "Look:" in str(result.output)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "audio", "data": PNG, "mimeType": "audio/wav"},
        {"type": "image", "data": PNG, "mimeType": "image/tiff"},
        {"type": "image", "data": "AAAA" * 1_750_001, "mimeType": "image/png"},
        {
            "type": "resource",
            "resource": {"uri": "a:b", "blob": PNG, "mimeType": "application/zip"},
        },
    ],
)
def test_what_models_do_not_take_is_described(part):
    """With its kind and its size."""
    result = read_tool_answer({"content": [part]})
    assert result.content is None
    assert "bytes, sha256" in str(result.output)


def test_resources_and_links_are_carried_along():
    """The agent reads where to find more."""
    parts = [
        {"type": "resource_link", "uri": "demo://a", "name": "a"},
        {"type": "resource", "resource": {"uri": "demo://b", "text": "content"}},
        {"type": "resource", "resource": {"uri": "demo://c", "blob": PNG, "mimeType": "image/png"}},
    ]
    result = read_tool_answer({"content": parts})
    assert "demo://a" in str(result.output)
    assert "content" in str(result.output)
    assert len(result.content) == 1


def test_an_error_of_a_tool_is_a_failed_result():
    """Its text is the sentence that the agent reads."""
    result = read_tool_answer({"content": [{"type": "text", "text": "no"}], "isError": True})
    assert (result.success, result.error_message) == (False, "no")


def test_structured_content_is_the_value():
    """If the text is no more than the same, written down."""
    wire = {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}
    assert read_tool_answer(wire).output == {"a": 1}


def test_prompts_and_resources_have_images_too():
    """In the parts that they consist of."""
    message = {"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}}
    assert len(read_parts([message]).content) == 1
    assert read_parts([{"uri": "a:b", "text": "x"}]).content is None


@pytest.fixture
def call_server():
    return FakeServer()


@pytest.fixture
async def ask(call_server, host):
    """Calls `add`; options are those of the call_server."""
    opened: list[Connection] = []

    async def call(**options):
        if not opened:
            opened.append(call_server.connect(**options))
            await opened[0].start()
        caller = Caller(host, opened[0], opened[0].config.timeout)
        return await caller.ask(
            "mcp__calc__add",
            "add",
            lambda client, on_progress: client.call("add", {"a": 1}, on_progress),
            read_tool_answer,
        )

    yield call
    for one in opened:
        await one.close()


async def test_the_answer_is_the_result(ask):
    """As the call_server gave it."""
    assert (await ask()).output == "1"


async def test_a_call_that_was_lost_says_so_and_is_not_repeated(ask, call_server):
    """It may have had effects."""
    call_server.say = lambda input: call_server.die() or asyncio.Event().wait()
    result = await ask()
    assert not result.success
    assert "may have had effects" in result.output
    call_server.say = lambda input: make_answer("again")
    await ask()
    assert len(call_server.calls) == 2


async def test_a_refusal_of_the_server_is_told(ask, call_server):
    """In its own words."""
    call_server.say = lambda input: ServerError("no such thing")
    assert "refused: no such thing" in (await ask()).output


async def test_a_server_that_is_not_there_is_told(ask, call_server):
    """With the reason."""
    call_server.failures = [OSError("broken")] * 9
    result = await ask(restart={"attempts": 0})
    assert "is not available" in result.output
    assert "broken" in result.output
    assert call_server.calls == []


async def test_a_call_has_a_time_limit_and_is_cancelled_at_the_server(ask, call_server):
    """The agent is told that nobody knows what became of it."""
    call_server.say = lambda input: asyncio.Event().wait()
    result = await ask(timeout=0.05)
    assert "did not answer within 0.05 seconds" in result.output
    assert call_server.cancelled == ["add"]


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(ask, call_server):
    """Immediately."""
    call_server.say = lambda input: asyncio.Event().wait()
    call = asyncio.ensure_future(ask())
    await wait_until(lambda: call_server.calls)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert call_server.cancelled == ["add"]


async def test_progress_is_shown(call_server, host):
    """Line by line, while the call goes on."""
    shown = []

    class View:
        def feed(self, stream, text):
            shown.append(text)

        def close(self):
            shown.append("closed")

    host.register_capability(CAPABILITY, lambda tool, about: View())
    connection = call_server.connect()
    await connection.start()

    async def request(client, on_progress):
        await on_progress(1, None, None)
        await on_progress(2, 5, "too soon after the first to be read")
        await on_progress(5, 5, "counting")
        return make_answer("done")

    result = await Caller(host, connection, 60).ask("n", "about", request, read_tool_answer)
    assert result.output == "done"
    assert shown == ["1\n", "5/5 counting\n", "closed"]
    await connection.close()


async def test_progress_gives_a_call_its_time_anew():
    """One that goes on is not ended by its limit; one that is over stays so."""

    class Deadline:
        def __init__(self, is_over):
            self.is_abandoned, self.moved = is_over, []

        def expired(self):
            return self.is_abandoned

        def reschedule(self, when):
            self.moved.append(when)

    for is_over in (False, True):
        deadline = Deadline(is_over)
        await make_progress(None, deadline, 100.0)(1, 2, None)
        now = asyncio.get_running_loop().time()
        assert [now < one <= now + 100 for one in deadline.moved] == ([] if is_over else [True])


def test_a_call_is_described_in_a_line():
    """However much it is given."""
    assert describe_input({"a": 1, "b": "x"}) == "a=1, b='x'"
    assert len(describe_input({str(n): "y" * 99 for n in range(99)})) == 200
