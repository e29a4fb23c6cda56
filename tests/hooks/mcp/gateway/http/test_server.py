"""The channel to an MCP server by streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.mcp.frames import answer
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http import server as exchange_module
from amplifier_hooks.mcp.gateway.http import server as server_module
from amplifier_hooks.mcp.gateway.http.connection import Wire, WireError, check_address
from amplifier_hooks.mcp.gateway.http.server import (
    Conversation,
    Exchange,
    HttpServer,
    follow_server,
)
from amplifier_hooks.mcp.gateway.http.wire_format import EventReader, write_event
from tests.hooks.mcp.gateway.http.raw_server import (
    STREAM,
    Handler,
    Request,
    ask,
    ask_modern,
    begin,
    run_channel,
    run_raw,
    take,
    take_error,
    take_note,
    tell,
)
from tests.support.waiting import wait_until

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"x":1}}'
PROGRESS = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}'


def _write(*parts: bytes) -> Handler:
    async def handle(request: Request) -> None:
        await request.write(*parts)

    return handle


def _answer(status: int = 200, body: Any = None, **headers: str) -> Handler:
    async def handle(request: Request) -> None:
        await request.answer(status, body, **headers)

    return handle


@pytest.mark.parametrize(
    "handler",
    [
        _answer(200, ANSWER),
        _answer(200, ANSWER, Content_Type="Application/JSON; charset=utf-8"),
        _answer(200, b"[" + ANSWER + b"]"),
        _write(STREAM, write_event(ANSWER)),
        _write(STREAM, b'data: {"jsonrpc":"2.0","id":1,\r\ndata: "result":{"x":1}}\r\n\r\n'),
        _write(
            STREAM, b"event: endpoint\ndata: /x\n\n: hi\n\nid: 1\ndata:\n\n", write_event(ANSWER)
        ),
    ],
)
async def test_an_answer_is_delivered_in_every_form(handler: Handler):
    """As JSON, in a list, as an event, over several lines, after what is no message."""
    async with run_channel(handler) as (channel, server):
        await channel.send(ask("tools/list"))
        assert (await take(channel))["result"] == {"x": 1}
    assert server.requests[0].headers["accept"] == "application/json, text/event-stream"


async def test_messages_before_the_answer_come_before_it():
    """Progress is passed on when it comes, not with the answer."""
    go_on = asyncio.Event()

    async def handle(request: Request) -> None:
        await request.write(STREAM, write_event(PROGRESS))
        await go_on.wait()
        await request.write(write_event(ANSWER))

    async with run_channel(handler=handle) as (channel, _):
        await channel.send(ask("tools/call"))
        assert (await take(channel))["method"] == "notifications/progress"
        go_on.set()
        assert (await take(channel))["id"] == 1


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (_answer(401), "--header-env"),
        (_answer(500, b"<html>"), "answered 500: the server failed"),
        (_answer(200, b"<html>", Content_Type="text/html"), "'text/html', which is neither JSON"),
        (_answer(200, b"hi", Content_Type=""), "'nothing', which is neither JSON"),
        (_answer(202), "did not answer it"),
        (_answer(200, b"{"), "not JSON"),
        (_answer(200, b'{"jsonrpc":"2.0","id":2,"result":{}}'), "did not answer it"),
        (_answer(200, b'{"jsonrpc":"2.0","id":1,"id":1,"result":{}}'), "twice"),
        (_write(STREAM), "the stream ended before the answer"),
        (_write(STREAM, write_event(PROGRESS), b"data: " + ANSWER), "the stream ended before"),
        (_write(STREAM, b"data: rubbish\n\n"), "not JSON"),
        (_write(b"rubbish\r\n\r\n"), "the connection broke"),
        (_answer(200, b"{", Content_Length="99"), "the connection broke"),
        (_write(), "the connection broke"),
    ],
)
async def test_a_request_that_fails_is_answered_with_the_reason(handler: Handler, reason: str):
    """For exactly that request; nobody waits for ever."""
    async with run_channel(handler, {"Authorization": "very-secret"}) as (channel, _):
        await channel.send(ask("tools/call"))
        found = await take(channel)
        while "error" not in found:  # what came before it is passed on
            found = await take(channel)
    assert found["id"] == 1
    assert reason in found["error"]["message"]
    assert "very-secret" not in str(found)


@pytest.mark.parametrize("id", [1, None, "server-error"])
async def test_an_error_in_a_refusal_is_passed_on_for_the_request(id: object):
    """Servers answer 400 with an error of the protocol, whose id is not always the right one."""
    error = {"code": -32022, "message": "no such version", "data": {"supported": ["x"]}}
    handler = _answer(400, {"jsonrpc": "2.0", "id": id, "error": error})
    async with run_channel(handler) as (channel, _):
        await channel.send(ask_modern("server/discover"))
        assert await take(channel) == {"jsonrpc": "2.0", "id": 1, "error": error}


async def test_an_event_that_is_too_large_fails_its_request(monkeypatch: pytest.MonkeyPatch):
    """And no other."""
    monkeypatch.setattr(exchange_module, "EventReader", lambda: EventReader(largest=100))
    async with run_channel(_write(STREAM, b"data: " + b"x" * 200)) as (channel, _):
        await channel.send(ask("tools/call"))
        assert "more than 100 bytes" in await take_error(channel)


async def test_a_broken_stream_goes_on_where_it_broke():
    """With Last-Event-ID, after the time that the server named; half an event is not used."""

    async def handle(request: Request) -> None:
        if request.method == "POST":
            await request.write(
                STREAM,
                b"retry: 1\nid: a1\ndata:\n\nid: a2\n",
                write_event(PROGRESS),
                b'data: {"hal',
            )
        elif request.headers["last-event-id"] == "a2":
            await request.write(STREAM, b"id: a3\ndata:\n\n")
        else:
            await request.write(STREAM, write_event(ANSWER))

    async with run_channel(handle) as (channel, server):
        await channel.send(ask("tools/call"))
        assert (await take(channel))["method"] == "notifications/progress"
        assert (await take(channel))["result"] == {"x": 1}
    gets = [one.headers["last-event-id"] for one in server.requests if one.method == "GET"]
    assert gets == ["a2", "a3"]


@pytest.mark.parametrize("handler", [_answer(405), _answer(200, ANSWER)])
async def test_a_stream_that_cannot_go_on_fails_its_request(handler: Handler):
    """The server does not know it any more."""

    async def handle(request: Request) -> None:
        first = _write(STREAM, b"retry: 1\nid: a1\ndata:\n\n")
        await (first if request.method == "POST" else handler)(request)

    async with run_channel(handle) as (channel, server):
        await channel.send(ask("tools/call"))
        assert "the stream ended before the answer" in await take_error(channel)
    assert len(server.requests) == 2


async def test_what_breaks_after_the_answer_is_no_failure():
    """One request has one answer."""
    head = STREAM.replace(b"Connection: close", b"Content-Length: 999")

    async def handle(request: Request) -> None:
        answer = ANSWER.replace(b'"id":1', b'"id":%d' % request.message["id"])
        await request.write(head, write_event(answer))

    async with run_channel(handle) as (channel, _):
        for id in (1, 2, 3):
            await channel.send(ask("tools/call", id))
            assert (await take(channel))["id"] == id


async def test_an_unreadable_event_fails_its_request_even_if_the_stream_could_go_on():
    """It may have been the answer, which would not come again."""
    async with run_channel(_write(STREAM, b"id: a1\ndata: rubbish\n\n")) as (channel, server):
        await channel.send(ask("tools/call"))
        assert "not JSON" in await take_error(channel)
    assert len(server.requests) == 1


async def test_a_server_that_does_not_come_back_fails_the_request(monkeypatch: pytest.MonkeyPatch):
    """After a few tries, and with the doubt about what became of the call."""
    monkeypatch.setattr(exchange_module, "_TRIES", 2)

    async def handle(request: Request) -> None:
        if request.method == "POST":
            await request.write(STREAM, b"retry: 1\nid: a1\ndata:\n\n")

    async with run_channel(handle) as (channel, server):
        await channel.send(ask("tools/call"))
        assert "not known" in await take_error(channel)
    assert len(server.requests) == 3


async def test_without_a_session_no_stream_goes_on():
    """Since 2026-07-28 there is no such thing."""
    async with run_channel(_write(STREAM, b"retry: 1\nid: a1\ndata:\n\n")) as (channel, server):
        await channel.send(ask_modern("tools/call"))
        assert "the stream ended before the answer" in await take_error(channel)
    assert len(server.requests) == 1


async def test_a_stream_that_stays_open_after_the_answer_is_left(monkeypatch: pytest.MonkeyPatch):
    """Not every server closes it."""
    monkeypatch.setattr(exchange_module, "LATE_SECONDS", 0.01)

    async def handle(request: Request) -> None:
        await request.write(STREAM, write_event(ANSWER))
        await asyncio.Event().wait()

    async with run_channel(handle) as (channel, server):
        await channel.send(ask("tools/call"))
        assert (await take(channel))["id"] == 1
        await asyncio.wait_for(server.gone.get(), 30)


async def test_what_comes_back_for_a_notification_is_not_read():
    """It has no answer."""
    async with run_channel(_answer(200, ANSWER)) as (channel, _):
        await channel.send(tell("notifications/roots/list_changed"))
        await channel.send(ask("tools/list"))
        assert (await take(channel))["id"] == 1


MARKED = {"type": "string", "x-mcp-header": "Region"}
LISTED = {"name": "query", "inputSchema": {"type": "object", "properties": {"region": MARKED}}}


def _begin(conversation: Conversation, session: str = "s1", version: object = "2025-11-25") -> None:
    headers = {"mcp-session-id": session} if session else {}
    conversation.learn(ask("initialize"), answer(1, {"protocolVersion": version}), headers)


def test_a_session_has_its_id_and_version_in_every_message_but_the_first():
    """As the answer to the first one says."""
    conversation = Conversation()
    assert conversation.list_headers(ask("initialize")) == {}
    _begin(conversation)
    expected = {"Mcp-Session-Id": "s1", "MCP-Protocol-Version": "2025-11-25"}
    assert conversation.list_headers(tell("notifications/initialized")) == expected
    assert conversation.list_headers(ask("initialize")) == {}
    stream = conversation.list_stream_headers("e1")
    assert stream == {"Accept": "text/event-stream", "Last-Event-ID": "e1", **expected}


def test_a_server_without_sessions_gets_the_version_only():
    """Nothing is made up."""
    conversation = Conversation()
    _begin(conversation, session="")
    assert conversation.list_headers(ask("ping")) == {"MCP-Protocol-Version": "2025-11-25"}
    _begin(conversation, session="", version=3)
    assert conversation.list_headers(ask("ping")) == {}


@pytest.mark.parametrize("session", ["a b", "é", "x" * 2000])
def test_a_session_that_no_header_can_name_is_an_error(session: str):
    """It could not be used."""
    with pytest.raises(WireError, match="characters"):
        _begin(Conversation(), session)


def test_a_message_that_stands_by_itself_has_no_session():
    """But the headers that repeat it, those of its arguments too."""
    conversation = Conversation()
    _begin(conversation)
    conversation.learn(ask("tools/list"), answer(1, {"tools": [LISTED]}), {})
    call = ask_modern("tools/call", name="query", arguments={"region": "eu"})
    assert conversation.list_headers(call) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "query",
        "Mcp-Param-Region": "eu",
    }


def test_tools_that_may_not_be_used_over_http_are_left_out(caplog: pytest.LogCaptureFixture):
    """And said; the rest of the list stays as it is."""
    bad = {"name": "bad", "inputSchema": {"properties": {"a": {"x-mcp-header": ""}}}}
    whole = answer(1, {"tools": [bad, LISTED], "nextCursor": "2"})
    with caplog.at_level(logging.WARNING):
        shown = Conversation().learn(ask("tools/list"), whole, {})
    assert shown.message["result"] == {"tools": [LISTED], "nextCursor": "2"}
    assert "'bad' is left out" in caplog.text


@pytest.mark.parametrize("result", [{}, {"tools": {}}, {"tools": [LISTED]}])
def test_other_answers_are_passed_on_as_they_are(result: dict[str, object]):
    """Byte for byte."""
    frame = answer(1, result)
    assert Conversation().learn(ask("tools/list"), frame, {}) is frame


CHANGE = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


async def _follow(handler: Handler, count: int = -1) -> tuple[list[str], list[Request]]:
    """What is delivered: until it ends by itself, or until there are so many."""
    delivered: list[str] = []
    enough = asyncio.Event()

    async def deliver(found: bytes | ChannelError) -> None:
        delivered.append(found.decode() if isinstance(found, bytes) else f"note: {found}")
        if len(delivered) == count:
            enough.set()

    async with run_raw(handler) as server:
        wire = Wire(check_address(server.url, {}))
        following = asyncio.create_task(follow_server(wire, Conversation(), deliver))
        waiting = asyncio.create_task(enough.wait())
        async with asyncio.timeout(30):
            await asyncio.wait({following, waiting}, return_when=asyncio.FIRST_COMPLETED)
        assert following.done() == (count == -1)
        for task in (following, waiting):
            task.cancel()
        await asyncio.gather(following, waiting, return_exceptions=True)
        await wire.close()
    return delivered, server.requests


@pytest.mark.parametrize("status", [202, 204, 404, 405])
async def test_a_server_need_not_offer_it(status: int):
    """And nobody is bothered with that."""
    assert (await _follow(lambda request: request.answer(status)))[0] == []


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [(401, "", "--header-env"), (400, "", "answered 400"), (200, "text/html", "answered 200")],
)
async def test_a_refusal_is_said_once(status: int, kind: str, reason: str):
    """The calls may still work."""
    delivered, requests = await _follow(
        lambda request: request.answer(status, b"x", Content_Type=kind)
    )
    assert len(requests) == 1
    assert reason in delivered[0]
    assert "nothing but answers comes" in delivered[0]


async def test_a_stream_that_ends_is_opened_again_after_the_last_event():
    """After the time that the server named."""

    async def handle(request: Request) -> None:
        number = int(request.headers.get("last-event-id", 0)) + 1
        await request.write(STREAM, b"retry: 1\nid: %d\ndata: " % number, CHANGE, b"\n\ndata: {")

    delivered, requests = await _follow(handle, 3)
    assert delivered == [CHANGE.decode()] * 3
    assert [one.headers.get("last-event-id") for one in requests[:3]] == [None, "1", "2"]
    assert requests[0].headers["accept"] == "text/event-stream"


async def test_what_cannot_be_read_is_said_and_the_rest_goes_on():
    """One bad event does not end the stream."""

    async def handle(request: Request) -> None:
        await request.write(
            STREAM, b"data: rubbish\n\nevent: x\ndata: y\n\ndata: ", CHANGE, b"\n\n"
        )
        await asyncio.Event().wait()

    delivered, _ = await _follow(handle, 2)
    assert "not JSON" in delivered[0]
    assert delivered[1] == CHANGE.decode()


async def test_a_server_that_fails_is_tried_again_and_said_once():
    """Until it is back."""
    tries = 0

    async def handle(request: Request) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            await request.write(STREAM, b"retry: 1\ndata: ", CHANGE, b"\n\n")
        elif tries < 5:
            await request.answer(503)
        else:
            await request.write(STREAM, b"data: ", CHANGE, b"\n\n")
            await asyncio.Event().wait()

    delivered, _ = await _follow(handle, 3)
    assert [one.startswith("note: ") for one in delivered] == [False, True, False]
    assert "answered 503" in delivered[1]


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
