"""Everything besides calls of tools, through the gateway: as the server and the client mean it."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from mcp import Client, MCPDeprecationWarning, MCPError
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    PromptReference,
    TextContent,
    ToolListChangedNotification,
)

from tests.mcp.clients import connect, read_text, start_alone
from tests.mcp.servers import BOTH, FETCH, LEGACY, MODERN, SERVERS, Server, get_files
from tests.support.mcp.wire import Program, wait_for_answer
from tests.support.mcp.world import BUNDLE, World
from tests.support.waiting import wait_until

EVERY_SERVER = pytest.mark.parametrize("server", SERVERS, indirect=True)
EVERYTHING, FILES, OURS = SERVERS["everything"], SERVERS["filesystem"], SERVERS["modern"]
MODES = pytest.mark.parametrize("mode", BOTH)
WITH_IMAGES = pytest.mark.parametrize(
    ("server", "mode", "tool"),
    [("everything", LEGACY, "get-tiny-image"), *(("modern", mode, "picture") for mode in BOTH)],
    indirect=["server"],
)
SECRET = "AKIA" + "QX7PL3ZT5VN2WK4M"  # in two parts, so that nobody takes it for a real one


@EVERY_SERVER
async def test_lists_and_unknown_methods_pass_byte_for_byte(world: World, server: Server) -> None:
    """What no hook changes is not even written anew."""
    lines: list[list[bytes]] = []
    for command in (server.build(world), world.build_command(*server.build(world))):
        async with await Program.start(command, cwd=world.project, env=world.env) as wire:
            await wire.initialize()
            for method in ("tools/list", "prompts/list", "x/of-the-future", "ping"):
                await wait_for_answer(wire.ask(method))
            lines.append([line for line in wire.lines if b'"id":1,' not in line])
    assert lines[0] == lines[1]


@WITH_IMAGES
async def test_images_pass(world: World, server: Server, mode: str, tool: str) -> None:
    """Hooks see a digest, the client sees the image."""
    async with Client(start_alone(world, server), mode=mode) as alone:
        expected = await alone.call_tool(tool, {})
    async with connect(world, server, mode) as client:
        assert (await client.call_tool(tool, {})).content == expected.content
    (seen,) = world.read_trail().list_events("tool:post")
    assert "sha256" in str(seen["data"]["tool_result"])


async def test_a_changed_result_is_changed_in_each_of_its_forms(world: World) -> None:
    """A client that checks the structured form against its schema takes it, too."""
    (get_files(world) / "a.txt").write_text("say replace-this twice: replace-this")
    async with connect(world, FILES, LEGACY) as client:
        await client.list_tools()
        result = await client.call_tool("read_text_file", {"path": str(get_files(world) / "a.txt")})
    assert not result.is_error
    assert "replace-this" not in str(result)
    assert str(result).count("the-judge-replaced-it") == 4


async def test_secrets_are_masked_in_results_and_in_the_trail(world: World) -> None:
    """By the module that every session has."""
    world.write_bundle(BUNDLE.replace("hooks:\n", "hooks:\n  - {module: hooks-redaction}\n"))
    (get_files(world) / "a.txt").write_text(f"aws_access_key_id = {SECRET}\n")
    async with connect(world, FILES, LEGACY) as client:
        result = await client.call_tool("read_text_file", {"path": str(get_files(world) / "a.txt")})
    assert not result.is_error
    assert "aws_access_key_id" in read_text(result)
    assert SECRET not in str(result)
    assert SECRET not in str(world.read_trail().records)


@MODES
async def test_progress_and_cancellation_pass(world: World, mode: str) -> None:
    """The server's own steps reach the client, and the server hears that nobody waits any more."""
    steps: list[tuple[float, str | None]] = []

    async def take_step(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async with connect(world, OURS, mode) as client:
        await client.call_tool("work", {"steps": 3}, progress_callback=take_step)
        await wait_until(lambda: len(steps) == 3)
        sleeping = asyncio.create_task(client.call_tool("sleep", {"seconds": 600}))
        await wait_until((get_files(world) / "sleeping").exists)
        sleeping.cancel()
        await wait_until((get_files(world) / "cancelled").exists)
        assert read_text(await client.call_tool("note", {"name": "n"})) == "noted n"
    assert steps == [(1.0, "step 1"), (2.0, "step 2"), (3.0, "step 3")]


@MODES
async def test_resources_prompts_and_completions(world: World, mode: str) -> None:
    """Reading and prompts are judged like calls; completions pass."""
    async with connect(world, OURS, mode) as client:
        read = await client.read_resource("memo://today")
        assert "memo about today" in str(read)
        assert "the-judge-replaced-it" in str(await client.read_resource("memo://replace-this"))
        with pytest.raises(MCPError, match="the-judge-refuses"):
            await client.read_resource("memo://deny-me")
        prompt = await client.get_prompt("summarize", {"topic": "rewrite-me"})
        assert "Summarize rewritten" in str(prompt)
        with pytest.raises(MCPError, match="the-judge-refuses"):
            await client.get_prompt("summarize", {"topic": "deny-me"})
        reference = PromptReference(type="ref/prompt", name="summarize")
        completed = await client.complete(reference, {"name": "topic", "value": "deny-me"})
        assert completed.completion.values == ["deny-me-completed"]
    names = [name for name, _ in world.read_trail().list_calls()]
    assert names == ["mcp__modern__resources/read"] * 3 + ["mcp__modern__prompts/get"] * 2


class Person:
    """Who answers at the client, with a model of their own."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def sample(self, context: Any, params: Any) -> CreateMessageResult:
        """What the client's model says."""
        self.asked.append(params)
        content = TextContent(type="text", text=self.answer)
        return CreateMessageResult(role="assistant", content=content, model="scripted")

    async def elicit(self, context: Any, params: Any) -> ElicitResult:
        """What the person fills in."""
        self.asked.append(params)
        return ElicitResult(action="accept", content={"name": self.answer})


async def is_refused(client: Client, tool: str, given: dict[str, Any]) -> bool:
    """Whether a call fails, in either of the ways in which servers say so."""
    try:
        return bool((await client.call_tool(tool, given)).is_error)
    except MCPError:
        return True


@MODES
async def test_what_a_server_asks_the_client_is_judged_both_ways(world: World, mode: str) -> None:
    """The question before the client sees it, and the answer before the server does."""
    person = Person("replace-this")
    callbacks: dict[str, Any] = {
        "sampling_callback": person.sample,
        "elicitation_callback": person.elicit,
    }
    async with connect(world, OURS, mode, **callbacks) as client:
        said = read_text(await client.call_tool("greet", {}))
        assert said == "hello the-judge-replaced-it"
        said = read_text(await client.call_tool("muse", {"topic": "sky"}))
        assert said == "the model said: the-judge-replaced-it"
        await client.call_tool("muse", {"topic": "rewrite"})
        assert "about rewritten" in str(person.asked[-1])
        count = len(person.asked)
        assert await is_refused(client, "muse", {"topic": "deny"})
        assert len(person.asked) == count
        person.answer = "withhold-this"
        assert await is_refused(client, "muse", {"topic": "sea"})
    names = [name for name, _ in world.read_trail().list_calls()]
    assert names.count("mcp__modern__sampling/createMessage") == 4
    assert names.count("mcp__modern__elicitation/create") == 1


async def test_the_sampling_and_elicitation_of_a_real_server(world: World) -> None:
    """In the older protocol, where a server asks in the middle of a call."""
    person = Person("replace-this")
    callbacks: dict[str, Any] = {
        "sampling_callback": person.sample,
        "elicitation_callback": person.elicit,
    }
    async with connect(world, EVERYTHING, LEGACY, **callbacks) as client:
        given = {"prompt": "say it", "maxTokens": 10}
        sampled = await client.call_tool("trigger-sampling-request", given)
        assert "the-judge-replaced-it" in read_text(sampled)
        await client.call_tool("trigger-elicitation-request", {})
    assert len(person.asked) == 2
    names = [name for name, _ in world.read_trail().list_calls()]
    assert "mcp__everything__sampling/createMessage" in names
    assert "mcp__everything__elicitation/create" in names


async def test_a_client_learns_of_a_new_tool(world: World) -> None:
    """In the older protocol it is told without asking."""
    told: list[Any] = []

    async def take(message: Any) -> None:
        told.append(message)

    async with connect(world, OURS, LEGACY, message_handler=take) as client:
        await client.list_tools()
        await client.call_tool("grow", {})
        await wait_until(lambda: any(isinstance(one, ToolListChangedNotification) for one in told))
        await check_grown(client)


async def test_a_client_that_listens_learns_of_a_new_tool(world: World) -> None:
    """In the newer protocol it subscribes first."""
    async with connect(world, OURS, MODERN) as client:
        await client.list_tools()
        async with client.listen(tools_list_changed=True) as changes:
            await client.call_tool("grow", {})
            await asyncio.wait_for(anext(aiter(changes)), 60)
        await check_grown(client)


async def check_grown(client: Client) -> None:
    """The tool is listed, and can be called."""
    listed = await client.list_tools(cache_mode="refresh")
    assert "grown" in [tool.name for tool in listed.tools]
    assert not (await client.call_tool("grown", {"a": 1, "b": 2})).is_error


async def test_log_messages_of_a_real_server_pass(world: World) -> None:
    """The level goes to the server, its messages come back."""
    logged = asyncio.Event()

    async def take_message(params: Any) -> None:
        logged.set()

    async with connect(world, EVERYTHING, LEGACY, logging_callback=take_message) as client:
        with pytest.warns(MCPDeprecationWarning):
            await client.set_logging_level("debug")
        await client.call_tool("toggle-simulated-logging", {})
        await asyncio.wait_for(logged.wait(), 60)


async def test_several_clients_at_once_have_sessions_of_their_own(world: World) -> None:
    """Each with its own trail, and the same store of questions."""

    async def work(number: int) -> None:
        async with connect(world, EVERYTHING, LEGACY) as client:
            for _ in range(5):
                result = await client.call_tool("echo", {"message": f"from {number}"})
                assert f"from {number}" in read_text(result)

    await asyncio.gather(*map(work, range(5)))
    trails = world.read_trails()
    assert [len(trail.list_calls()) for trail in trails] == [5] * 5
    said = [{str(one["data"]["tool_input"]) for one in t.list_events("tool:pre")} for t in trails]
    assert sorted(map(len, said)) == [1] * 5


class Site(BaseHTTPRequestHandler):
    """A site with a page of one line at every address."""

    visited: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """The page."""
        self.visited.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"a page that says replace-this")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("mode", FETCH.modes)
async def test_pages_are_fetched_only_if_hooks_allow_it(world: World, mode: str) -> None:
    """And what they say is judged before a model reads it."""
    Site.visited.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{site.server_address[1]}"
        async with connect(world, FETCH, mode) as client:
            refused = await client.call_tool("fetch", {"url": f"{address}/deny-me"})
            assert "the-judge-refuses" in read_text(refused)
            fetched = await client.call_tool("fetch", {"url": f"{address}/rewrite-me"})
            assert "the-judge-replaced-it" in read_text(fetched)
        site.shutdown()
    assert Site.visited == ["/rewritten"]
