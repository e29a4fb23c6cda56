"""The gateway with HTTP on the client's side, on the server's side, and on both."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.clients import read_text
from tests.mcp.servers import LEGACY, MODERN, SERVERS, Server
from tests.mcp.test_features import Person
from tests.support.mcp.wire import Program
from tests.support.mcp.world import ALLOW, World
from tests.support.waiting import wait_until

CASES = pytest.mark.parametrize(
    ("server", "mode"),
    [("everything", LEGACY), ("modern", LEGACY), ("modern", MODERN)],
    indirect=["server"],
)
WAYS = pytest.mark.parametrize("way", ["listen", "http", "listen and http"])


@asynccontextmanager
async def run_until(
    world: World, command: Sequence[str], sign: str, **env: str
) -> AsyncIterator[re.Match[str]]:
    """A program in the background, once it has said something on its other stream."""
    variables = {**world.env, **env}
    async with await Program.start(command, cwd=world.project, env=variables) as program:
        running = program.process
        await wait_until(
            lambda: running.returncode is not None or bool(re.search(sign, program.errors))
        )
        found = re.search(sign, program.errors)
        assert found is not None, program.errors
        yield found


def find_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@asynccontextmanager
async def serve_http(world: World, server: Server) -> AsyncIterator[str]:
    """The server itself, over HTTP; its address."""
    port = find_port()
    command = server.build(world)
    last = ["streamableHttp"] if server.name == "everything" else [str(port)]
    sign = r"listening on port|running on http"
    async with run_until(world, [*command, *last], sign, PORT=str(port)):
        yield f"http://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def connect(
    world: World, server: Server, mode: str, way: str, **options: Any
) -> AsyncIterator[Client]:
    """A client of the server, through the gateway, on one of the ways."""
    async with AsyncExitStack() as stack:
        words = ["--name", server.name]
        target = ["--", *server.build(world)]
        if "http" in way:
            target = ["--http", await stack.enter_async_context(serve_http(world, server))]
        start = world.build_command()[: -len(world.build_tiny_command()) - 1]
        if "listen" in way:
            words += ["--listen", "127.0.0.1:0"]
            running = run_until(world, [*start, *words, *target], r"connect to (http\S+)")
            where: Any = (await stack.enter_async_context(running))[1]
        else:
            command = [*start, *words, *target]
            where = StdioServerParameters(
                command=command[0], args=command[1:], env=world.env, cwd=world.project
            )
        yield await stack.enter_async_context(Client(where, mode=mode, **options))


@WAYS
@CASES
async def test_calls_are_judged_on_every_way(
    world: World, server: Server, mode: str, way: str
) -> None:
    """Allowed, denied, explained, and decided by a person."""
    async with connect(world, server, mode, way) as client:

        async def call(word: str) -> tuple[bool, str]:
            result = await client.call_tool(*server.call(world, word))
            return bool(result.is_error), read_text(result)

        assert (await client.list_tools()).tools
        assert (await call("plain"))[0] is False
        failed, said = await call("deny-me")
        assert failed
        assert "the-judge-refuses" in said
        assert (await call("inject-me"))[1].endswith("the-judge-adds-this")
        asked = asyncio.create_task(call("ask-me"))
        question = await world.wait_for_question()
        assert (await call("other"))[0] is False
        await world.decide(question, ALLOW)
        assert (await asked)[0] is False
        assert server.has_done is None or not server.has_done(world, "deny-me")
    verdicts = [action for _, action in world.read_trails()[0].list_calls()]
    assert {"continue", "deny", "inject_context", "ask_user"} <= set(verdicts)


@WAYS
@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_questions_of_the_server_and_progress_come_by_every_way(
    world: World, mode: str, way: str
) -> None:
    """Also where each message is a request of its own."""
    person, steps = Person("replace-this"), list[float]()

    async def take_step(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    server = SERVERS["modern"]
    callbacks: dict[str, Any] = {
        "sampling_callback": person.sample,
        "elicitation_callback": person.elicit,
    }
    async with connect(world, server, mode, way, **callbacks) as client:
        assert read_text(await client.call_tool("greet", {})) == "hello the-judge-replaced-it"
        await client.call_tool("work", {"steps": 3}, progress_callback=take_step)
        await wait_until(lambda: steps == [1.0, 2.0, 3.0])
        assert (await client.read_resource("memo://today")).contents
