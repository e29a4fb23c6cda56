"""The channel to an MCP server by streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.mcp.frames import answer
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http import exchange as exchange_module
from amplifier_hooks.mcp.gateway.http import server_channel as server_module
from amplifier_hooks.mcp.gateway.http.exchange import Exchange
from amplifier_hooks.mcp.gateway.http.server_channel import HttpServer
from amplifier_hooks.mcp.gateway.http.sse import write_event
from tests.hooks.mcp.gateway.http.raw_server import (
    STREAM,
    Request,
    ask,
    ask_modern,
    begin,
    run_channel,
    take,
    take_error,
    take_note,
    tell,
)
from tests.support.waiting import wait_until

VERSION = {"protocolVersion": "2025-11-25"}


async def _serve_session(request: Request) -> None:
    """A server with sessions and no stream of its own."""
    if request.method != "POST":
        await request.answer(405)
    elif request.message.get("method") == "initialize":
        await request.reply(VERSION, Mcp_Session_Id="s1")
    elif "id" not in request.message:
        await request.answer(202)
    else:
        await request.reply({"got": request.message.get("params")})


async def test_a_session_is_begun_used_and_ended():
    """Its id and version stand in every request after the first, the last of which ends it."""
    async with run_channel(_serve_session) as (channel, server):
        await begin(channel)
        await channel.send(ask("tools/call", 7, name="add"))
        assert (await take(channel))["result"] == {"got": {"name": "add"}}
    first, *rest = server.requests
    assert "mcp-session-id" not in first.headers
    assert {one.headers["mcp-session-id"] for one in rest} == {"s1"}
    assert {one.headers["mcp-protocol-version"] for one in rest} == {"2025-11-25"}
    assert rest[-1].method == "DELETE"


async def test_nothing_overtakes_the_handshake():
    """What is sent meanwhile waits for the answer to `initialize`, and for `initialized`."""
    slow = asyncio.Event()

    async def handle(request: Request) -> None:
        if request.message.get("method") in ("initialize", "notifications/initialized"):
            await slow.wait()
        await _serve_session(request)

    async with run_channel(handle) as (channel, server):
        await channel.send(ask("initialize", "start"))
        await channel.send(tell("notifications/initialized"))
        await channel.send(ask("tools/list", 2))
        await wait_until(lambda: bool(server.requests))
        assert len(server.requests) == 1
        slow.set()
        assert [(await take(channel))["id"] for _ in range(2)] == ["start", 2]
    posted = [one.message["method"] for one in server.requests if one.method == "POST"]
    assert posted == ["initialize", "notifications/initialized", "tools/list"]


async def test_a_handshake_is_over_with_its_answer(monkeypatch: pytest.MonkeyPatch):
    """Also if the server leaves the stream of the answer open."""
    monkeypatch.setattr(exchange_module, "LATE_SECONDS", 10_000)

    async def handle(request: Request) -> None:
        if request.message.get("method") == "initialize":
            started = json.dumps({"jsonrpc": "2.0", "id": "start", "result": VERSION}).encode()
            await request.write(STREAM, write_event(started))
            await asyncio.Event().wait()
        await _serve_session(request)

    async with run_channel(handle) as (channel, _):
        await begin(channel)
        await channel.send(ask("ping", 2))
        assert (await take(channel))["id"] == 2


async def test_what_was_handed_over_before_the_end_is_still_sent():
    """A cancellation, for example."""
    async with run_channel(_serve_session) as (channel, server):
        await begin(channel)
        await channel.send(tell("notifications/last"))
        await channel.close()
        assert server.requests[-2].message["method"] == "notifications/last"
        assert server.requests[-1].method == "DELETE"


async def test_a_failure_that_nobody_thought_of_is_an_answer_too(monkeypatch: pytest.MonkeyPatch):
    """Or a note; nobody waits for ever."""

    async def fail(*_: object) -> None:
        raise RuntimeError("not thought of")

    async with run_channel(_serve_session) as (channel, _):
        monkeypatch.setattr(server_module, "follow_server", fail)
        await begin(channel)
        assert "not thought of" in await take_note(channel)
        monkeypatch.setattr(Exchange, "run", fail)
        await channel.send(ask("ping", 2))
        assert "not thought of" in await take_error(channel)


async def test_calls_do_not_wait_for_one_another():
    """One that takes long holds up none."""
    slow = asyncio.Event()

    async def handle(request: Request) -> None:
        if request.message["id"] == 0:
            await slow.wait()
        await request.reply()

    async with run_channel(handle) as (channel, _):
        for number in range(40):
            await channel.send(ask_modern("tools/call", number, name="x"))
        others = {(await take(channel))["id"] for _ in range(39)}
        assert others == set(range(1, 40))
        slow.set()
        assert (await take(channel))["id"] == 0


async def test_headers_repeat_the_message_that_is_sent():
    """Whatever it was before hooks changed it."""
    async with run_channel(_serve_session) as (channel, server):
        await channel.send(ask_modern("tools/call", name="añadir", arguments={"a": 1}))
        await take(channel)
    sent = server.requests[0].headers
    assert sent["mcp-protocol-version"] == "2026-07-28"
    assert sent["mcp-method"] == "tools/call"
    assert sent["mcp-name"] == "=?base64?YcOxYWRpcg==?="
    assert "mcp-session-id" not in sent
    assert [one.method for one in server.requests] == ["POST"]  # no session, so none is ended


async def test_a_request_without_session_is_cancelled_by_ending_it():
    """The server sees its client go; no message is sent, and no answer comes."""

    async def handle(request: Request) -> None:
        if request.message["id"] == 1:
            await request.write(STREAM)
            await asyncio.Event().wait()
        await request.reply()

    async with run_channel(handle) as (channel, server):
        await channel.send(ask_modern("tools/call"))
        await wait_until(lambda: bool(server.requests))
        await channel.send(tell("notifications/cancelled", requestId=1))
        await channel.send(tell("notifications/cancelled", requestId="never"))
        gone = await asyncio.wait_for(server.gone.get(), 30)
        assert gone.message["id"] == 1
        await channel.send(ask_modern("tools/list", 2))
        assert (await take(channel))["id"] == 2
    assert [one.message["id"] for one in server.requests] == [1, 2]


async def test_a_call_of_a_session_is_cancelled_by_a_message(monkeypatch: pytest.MonkeyPatch):
    """If the server then ends the stream without an answer, that is no failure."""
    monkeypatch.setattr(server_module, "AFTER_CANCEL_SECONDS", 0.01)

    async def handle(request: Request) -> None:
        if request.message.get("id") == 1:
            await request.write(STREAM)
            await asyncio.Event().wait()
        await _serve_session(request)

    async with run_channel(handle) as (channel, server):
        await begin(channel)
        await channel.send(ask("tools/call"))
        await wait_until(lambda: any(one.message.get("id") == 1 for one in server.requests))
        await channel.send(tell("notifications/cancelled", requestId=1))
        await asyncio.wait_for(server.gone.get(), 30)
        await channel.send(ask("ping", 2))
        assert (await take(channel))["id"] == 2
    methods = [one.message.get("method") for one in server.requests]
    assert "notifications/cancelled" in methods


async def test_a_notification_that_does_not_get_through_is_said():
    """It has no answer that could say so; and the next message can be received."""

    async def handle(request: Request) -> None:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "not today"}}
        await (request.reply() if "id" in request.message else request.answer(400, error))

    async with run_channel(handle, {"Authorization": "very-secret"}) as (channel, _):
        await channel.send(tell("notifications/message"))
        said = await take_note(channel)
        assert said.startswith("notifications/message did not get through: 127.0.0.1:")
        assert "'not today'" in said
        assert "very-secret" not in said
        await channel.send(ask("ping"))
        assert (await take(channel))["id"] == 1


async def test_an_answer_to_the_server_that_does_not_get_through_is_said():
    """As a notification."""
    async with run_channel(lambda request: request.answer(500)) as (channel, _):
        await channel.send(answer(1, {}))
        assert "an answer did not get through" in await take_note(channel)


async def test_what_the_server_only_has_to_take_has_a_deadline(monkeypatch: pytest.MonkeyPatch):
    """A call has none."""
    monkeypatch.setattr(server_module, "TAKING_SECONDS", 0.01)
    monkeypatch.setattr(server_module, "HANDSHAKE_SECONDS", 0.01)

    end = asyncio.Event()

    async def handle(request: Request) -> None:
        await (end if request.message.get("id") == "long" else asyncio.Event()).wait()
        await request.reply()

    async with run_channel(handle) as (channel, _):
        await channel.send(ask_modern("tools/call", "long"))
        await channel.send(tell("notifications/message"))
        assert "took too long" in await take_note(channel)
        await channel.send(ask("initialize", "start"))
        assert "took too long" in await take_error(channel)
        end.set()
        assert "result" in await take(channel)


async def test_a_server_that_is_killed_answers_none_but_all_are_answered():
    """Each of its calls gets the reason, and says that nobody knows what became of it."""

    async def handle(request: Request) -> None:
        await request.write(STREAM, b": hi\n\n")
        await asyncio.Event().wait()

    async with run_channel(handle) as (channel, server):
        for number in range(5):
            await channel.send(ask_modern("tools/call", number))
        await wait_until(lambda: len(server.requests) == 5)
        server.stop()
        errors = [await take(channel) for _ in range(5)]
    assert {one["id"] for one in errors} == set(range(5))
    assert all("is not known" in one["error"]["message"] for one in errors)


async def test_closing_ends_everything():
    """What is under way, whoever waits for a message, and what is sent later."""

    async def handle(request: Request) -> None:
        await asyncio.Event().wait()

    async with run_channel(handle) as (channel, server):
        await channel.send(ask_modern("tools/call"))
        await wait_until(lambda: bool(server.requests))
        receiving = asyncio.create_task(channel.receive())
        await channel.close()
        assert await receiving is None
        assert await channel.receive() is None
        await channel.close()
        with pytest.raises(ChannelError, match="is closed"):
            await channel.send(ask("ping"))
        await asyncio.wait_for(server.gone.get(), 30)


async def test_messages_of_the_server_come_on_its_stream():
    """It is opened when the session has begun; 405 means that there is none."""
    change = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}).encode()

    async def handle(request: Request) -> None:
        if request.method == "GET":
            await request.write(STREAM, write_event(change))
            await asyncio.Event().wait()
        await _serve_session(request)

    async with run_channel(handle) as (channel, _):
        await begin(channel)
        assert (await take(channel))["method"] == "notifications/tools/list_changed"


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch):
    """When the channel is made, not when the first message is sent."""
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ModuleLoadError, match=r"'httpx2'.*\[mcp\]"):
        HttpServer("https://host/mcp")
