"""The middleware, its results and its clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest

pytest.importorskip("fastmcp")

import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp.server.middleware.timing import TimingMiddleware
from fastmcp.tools import ToolResult
from mcp import MCPError
from mcp_types import ImageContent, TextContent

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.frameworks.fastmcp import (
    AmplifierMCP,
    add_texts,
    read_prompt,
    read_resource,
    read_tool,
    write_prompt,
    write_resource,
    write_tool,
)
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.fastmcp import make_server
from tests.adapters.stage import Stage, ask, change_input, change_output

DENY = HookResult(action="deny", reason="against the rules")
Way = Literal["http", "sse"]
SHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}


def govern_server(stage: Stage, ran: Ran) -> FastMCP:
    """A server with the usual tools, a resource and a prompt, behind hooks."""
    server = make_server(ran)

    @server.resource("notes://{name}")
    def notes(name: str) -> str:
        ran.calls.append(("notes", {"name": name}))
        return f"PIN of {name}: 4711"

    @server.prompt
    def greet(name: str) -> str:
        return f"Greet {name}."

    server.add_middleware(AmplifierMCP(stage.hooks))
    return server


async def test_a_client_without_a_handshake_is_governed(stage: Stage) -> None:
    """The default client of FastMCP speaks the protocol without connections."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.answer("tool:pre", change_input(text="oat milk"), tool="note", name="changer")
    ran = Ran()
    async with Client(govern_server(stage, ran)) as client:
        assert (await client.call_tool("note", {"text": "milk"})).data == "noted oat milk"
        with pytest.raises(ToolError, match="policy: against the rules"):
            await client.call_tool("wipe", {"path": "/"})
    assert ran.calls == [("note", {"text": "oat milk"})]


async def test_a_call_without_any_client_is_governed(stage: Stage) -> None:
    """A program that calls a tool of its own server is no way around hooks."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:start", "session:end")
    ran = Ran()
    with pytest.raises(ToolError, match="against the rules"):
        await govern_server(stage, ran).call_tool("wipe", {"path": "/"})
    assert ran.calls == []
    assert stage.heard.names == ["session:start", "session:end"]


async def test_a_client_whose_session_is_refused_is_not_connected(stage: Stage) -> None:
    """The client that shakes hands reads why."""
    stage.answer("session:start", HookResult(action="deny", reason="not today"))
    with pytest.raises(MCPError, match="not today"):
        async with Client(govern_server(stage, Ran()), mode="legacy"):
            pass


async def test_each_call_of_a_client_without_a_session_is_refused(stage: Stage) -> None:
    """Where there is no handshake, the first call would open the session."""
    stage.answer("session:start", HookResult(action="deny", reason="not today"))
    ran = Ran()
    async with Client(govern_server(stage, ran)) as client:
        for _ in range(2):
            with pytest.raises(ToolError, match="not today"):
                await client.call_tool("note", {"text": "a"})
    assert ran.calls == []


async def test_a_resource_is_read_as_hooks_allow(stage: Stage) -> None:
    """Hooks see it as the tool resources/read: they deny it, or hide something in it."""
    stage.answer("tool:post", change_output("PIN of ana: [hidden]"), tool="resources/read")
    ran = Ran()
    async with Client(govern_server(stage, ran)) as client:
        found: Any = await client.read_resource("notes://ana")
        assert [one.text for one in found] == ["PIN of ana: [hidden]"]
        stage.answer("tool:pre", DENY, tool="resources/read", name="guard")
        with pytest.raises(MCPError, match="against the rules"):
            await client.read_resource("notes://ben")
    assert ran.calls == [("notes", {"name": "ana"})]


async def test_another_resource_is_read_if_hooks_say_so(stage: Stage) -> None:
    """The address is the input."""
    stage.answer("tool:pre", change_input(uri="notes://public"), tool="resources/read")
    ran = Ran()
    async with Client(govern_server(stage, ran)) as client:
        await client.read_resource("notes://ana")
    assert ran.calls == [("notes", {"name": "public"})]


async def test_a_prompt_of_the_server_is_used_as_hooks_allow(stage: Stage) -> None:
    """Hooks see it as the tool prompts/get."""
    asked = {"name": "greet", "arguments": {"name": "everybody"}}
    stage.answer("tool:pre", change_input(**asked), tool="prompts/get")
    async with Client(govern_server(stage, Ran())) as client:
        found: Any = await client.get_prompt("greet", {"name": "ana"})
        assert found.messages[0].content.text == "Greet everybody."
        stage.answer("tool:pre", DENY, tool="prompts/get", name="guard")
        with pytest.raises(MCPError, match="against the rules"):
            await client.get_prompt("greet", {"name": "ana"})


async def test_middleware_that_comes_after_the_hooks_stops_every_call(stage: Stage) -> None:
    """It could change what hooks have judged; the client reads what to do."""
    ran = Ran()
    server = govern_server(stage, ran)
    server.add_middleware(TimingMiddleware())
    async with Client(server) as client:
        with pytest.raises(ToolError, match="TimingMiddleware was added after"):
            await client.call_tool("note", {"text": "a"})
    assert ran.calls == []


async def test_a_result_that_nobody_changed_is_the_servers_own(stage: Stage) -> None:
    """Its structured content and its text, to the object."""
    found: list[Any] = []
    server = make_server(Ran())

    class Before(TimingMiddleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            found.append(await call_next(context))
            return found[-1]

    server.add_middleware(Before())
    server.add_middleware(AmplifierMCP(stage.hooks))
    tool: Any = await server.get_tool("note")
    answers: list[Any] = []
    run = type(tool).run

    async def remember(self: Any, arguments: dict[str, Any]) -> Any:
        answers.append(await run(self, arguments))
        return answers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(tool), "run", remember)
        await server.call_tool("note", {"text": "a"})
    assert found[0] is answers[0]


async def test_a_change_that_only_looks_the_same_reaches_the_tool(stage: Stage) -> None:
    """Python takes 1 for True, but a tool need not."""
    server, given = make_server(Ran()), []

    @server.tool
    def force(how: bool | int) -> str:
        given.append(how)
        return "done"

    stage.answer("tool:pre", change_input(how=1), tool="force")
    server.add_middleware(AmplifierMCP(stage.hooks))
    await server.call_tool("force", {"how": True})
    assert [type(one) for one in given] == [int]


async def test_an_injection_is_read_with_the_result(stage: Stage) -> None:
    """The agent behind the client has it in its conversation from then on."""
    hint = HookResult(action="inject_context", context_injection="Lint: line 3")
    stage.answer("tool:post", hint, tool="note")
    async with Client(govern_server(stage, Ran())) as client:
        result: Any = await client.call_tool("note", {"text": "a"})
    assert result.content[0].text == "noted a"
    assert "Lint: line 3" in result.content[1].text
    assert result.data == "noted a"


async def test_a_client_that_stops_waiting_runs_nothing(stage: Stage) -> None:
    """Its own time limit passes while a person thinks; the yes comes too late."""
    asked, decided = asyncio.Event(), asyncio.Event()

    async def think(_: ApprovalQuestion) -> str:
        asked.set()
        await decided.wait()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(think)
    ran = Ran()
    async with Client(govern_server(stage, ran)) as client:
        with pytest.raises(MCPError, match="timed out"):
            await client.call_tool("wipe", {"path": "/"}, timeout=0.5)
        assert asked.is_set()
        decided.set()
        await client.call_tool("note", {"text": "b"})
    assert ran.calls == [("note", {"text": "b"})]


@asynccontextmanager
async def serve(server: FastMCP, way: Way = "http") -> AsyncIterator[int]:
    """The server over HTTP, at the port that it found."""
    app = server.http_app(transport=way)
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="on")
    web = uvicorn.Server(config)
    task = asyncio.create_task(web.serve())
    while not web.started:
        await asyncio.sleep(0.01)
    try:
        yield web.servers[0].sockets[0].getsockname()[1]
    finally:
        web.should_exit = True
        await task


async def post(
    port: int, body: dict[str, Any] | None, session: str = "", path: str = "/mcp"
) -> tuple[Any, Any]:
    """Send a request as a client does that was written by hand; it stays open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = b"" if body is None else json.dumps({"jsonrpc": "2.0", **body}).encode()
    lines = [
        f"{'GET' if body is None else 'POST'} {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
        *([f"Mcp-Session-Id: {session}"] if session else []),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + data)
    await writer.drain()
    return reader, writer


async def test_a_client_that_just_goes_runs_nothing(stage: Stage) -> None:
    """Over HTTP nobody says goodbye: the server looks before a late yes runs anything."""
    asked, decided = asyncio.Event(), asyncio.Event()

    async def think(_: ApprovalQuestion) -> str:
        asked.set()
        await decided.wait()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("tool:error", "tool:post")
    stage.ask_person(think)
    ran = Ran()
    async with serve(govern_server(stage, ran)) as port:
        reader, writer = await post(port, {"id": 1, "method": "initialize", "params": SHAKE})
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        session = head.split("mcp-session-id: ")[1].split("\r\n")[0]
        writer.close()
        _, writer = await post(port, {"method": "notifications/initialized"}, session)
        writer.close()
        wanted = {"name": "wipe", "arguments": {"path": "/"}}
        _, writer = await post(port, {"id": 2, "method": "tools/call", "params": wanted}, session)
        await asyncio.wait_for(asked.wait(), 60)
        writer.transport.abort()
        await asyncio.sleep(0.2)
        decided.set()
        async with asyncio.timeout(60):
            while not stage.heard.names:
                await asyncio.sleep(0.01)
    assert ran.calls == []
    assert "client went" in str(stage.heard.events[0][1])


async def test_a_client_whose_stream_breaks_runs_nothing(stage: Stage) -> None:
    """Over SSE the results come by a stream of their own; its end is the end of the calls."""
    asked, decided = asyncio.Event(), asyncio.Event()

    async def think(_: ApprovalQuestion) -> str:
        asked.set()
        await decided.wait()
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    stage.ask_person(think)
    ran = Ran()
    async with serve(govern_server(stage, ran), "sse") as port:
        results, stream = await post(port, None, path="/sse")
        path = (await results.readuntil(b"session_id=")) + await results.readuntil(b"\r\n")
        path = path.decode().rpartition("data: ")[2].strip()
        wanted = {"name": "wipe", "arguments": {"path": "/"}}
        for body in (
            {"id": 1, "method": "initialize", "params": SHAKE},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": wanted},
        ):
            reader, writer = await post(port, body, path=path)
            assert b" 202 " in await reader.readline()
            writer.close()
        await asyncio.wait_for(asked.wait(), 60)
        stream.transport.abort()
        async with asyncio.timeout(60):
            while not stage.heard.names:
                await asyncio.sleep(0.01)
        decided.set()
        await asyncio.sleep(0.1)
    assert ran.calls == []


@pytest.mark.parametrize("way", ["http", "sse"])
async def test_a_client_that_waits_gets_what_was_allowed(stage: Stage, way: Way) -> None:
    """The same way to the same server, with somebody who is still there."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = Ran()
    async with serve(govern_server(stage, ran), way) as port:
        address = f"http://127.0.0.1:{port}/{'mcp' if way == 'http' else 'sse'}"
        async with Client(address, mode="legacy") as client:
            assert (await client.call_tool("wipe", {"path": "/tmp/x"})).data == "wiped /tmp/x"
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


def make_governed_server(stage: Stage) -> FastMCP:
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
    server = make_governed_server(stage)
    await call_twice(Client(server, mode="legacy"))
    assert stage.heard.names == ["session:start", "session:end"]
    await call_twice(Client(server, mode="legacy"))
    first, second, third, fourth = read_sessions(stage)
    assert first == second != third == fourth


def test_the_only_client_is_one_session_until_the_program_ends(stage: Stage) -> None:
    """Without a handshake, a server on standard input still has one client."""
    stage.listen("session:start", "session:end")
    server = make_governed_server(stage)
    asyncio.run(call_twice(Client(server)))
    assert stage.heard.names == ["session:start", "session:end"]
    assert stage.heard.events[1][1]["reason"] == "complete"
    asyncio.run(call_twice(Client(server)))
    first, second, third, fourth = read_sessions(stage)
    assert first == second != third == fourth


async def test_nobody_knows_a_client_that_has_not_signed_in(stage: Stage) -> None:
    """Over HTTP and without a handshake, every request is a session of its own."""
    stage.listen("session:start", "session:end")
    async with serve(make_governed_server(stage)) as port:
        await call_twice(Client(f"http://127.0.0.1:{port}/mcp"))
    assert stage.heard.names.count("session:start") == stage.heard.names.count("session:end") == 2
    assert len(set(read_sessions(stage))) == 2


async def test_a_user_who_has_signed_in_is_one_session(stage: Stage) -> None:
    """Whatever connections there are; another user is another one."""
    server = make_governed_server(stage)
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


IMAGE = ImageContent(type="image", data="aGk=", mime_type="image/png")


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (ToolResult("noted"), "noted"),
        (ToolResult("noted", {"result": "noted"}), "noted"),
        (ToolResult(structured_content={"result": [1, 2]}), [1, 2]),
        (ToolResult(structured_content={"name": "ana"}), {"name": "ana"}),
        (
            ToolResult("Found her.", {"name": "ana"}),
            {"content": "Found her.", "structured_content": {"name": "ana"}},
        ),
        (  # a reader of the text sees another name than one of the value
            ToolResult('{"name": "eve", "name": "ana"}', {"name": "ana"}),
            {
                "content": '{"name": "eve", "name": "ana"}',
                "structured_content": {"name": "ana"},
            },
        ),
    ],
)
def test_hooks_see_what_a_tool_says_once(result: ToolResult, output: Any) -> None:
    """Text that repeats the value is left out; text that says more is not."""
    assert read_tool(result).output == output


def test_hooks_see_what_is_no_text() -> None:
    """As the parts that the client gets."""
    seen = read_tool(ToolResult([TextContent(type="text", text="Look:"), IMAGE])).output
    assert [one["type"] for one in seen] == ["text", "image"]


def test_an_error_is_seen_as_one() -> None:
    """Servers also return errors instead of raising them."""
    assert not read_tool(ToolResult("no such note", is_error=True)).success


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (ToolResult("PIN 4711", {"result": "PIN 4711"}), "PIN [hidden]"),
        (ToolResult(structured_content={"pin": "4711"}), {"pin": "[hidden]"}),
        (ToolResult(structured_content={"pin": "4711"}), "withheld"),
        (
            ToolResult("The PIN is 4711.", {"pin": "4711"}),
            {"content": "The PIN is [hidden].", "structured_content": {"pin": "[hidden]"}},
        ),
        (ToolResult("PIN 4711"), "PIN [hidden]"),
    ],
)
def test_nothing_of_a_changed_result_goes_out(result: ToolResult, output: Any) -> None:
    """Neither in the text nor in the structured content."""
    assert "4711" in result.model_dump_json()
    written = write_tool(result, output)
    assert "4711" not in written.model_dump_json()
    assert read_tool(written).output == output


def test_more_to_read_comes_after_the_result() -> None:
    """What was there stays as it is."""
    result = ToolResult("noted", {"result": "noted"})
    more = add_texts(result, ["Lint: line 3"])
    assert [one.text for one in more.content] == ["noted", "Lint: line 3"]
    assert more.structured_content == {"result": "noted"}
    assert add_texts(result, []) is result


def test_a_resource_keeps_its_kind() -> None:
    """Its text is replaced; of bytes, hooks see how many there are."""
    result = ResourceResult([ResourceContent("PIN 4711", mime_type="text/markdown")])
    assert read_resource(result).output == "PIN 4711"
    written = write_resource(result, "PIN [hidden]")
    assert [(one.content, one.mime_type) for one in written.contents] == [
        ("PIN [hidden]", "text/markdown")
    ]
    assert read_resource(ResourceResult([ResourceContent(b"abc")])).output == "<3 bytes>"


def test_a_prompt_keeps_the_messages_that_nobody_changed() -> None:
    """To the object; others are written anew."""
    kept = Message("Hello!", role="assistant")
    result = PromptResult([Message("PIN 4711"), kept])
    seen = read_prompt(result).output
    assert seen[0] == {"role": "user", "content": "PIN 4711"}
    written = write_prompt(result, [{"role": "user", "content": "PIN [hidden]"}, seen[1]])
    assert written.messages[0].content.text == "PIN [hidden]"
    assert written.messages[1] is kept
    assert write_prompt(result, "withheld").messages[0].content.text == "withheld"
