"""One message to the server, and what comes back for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_hooks.mcp.gateway.http.outgoing import exchange as exchange_module
from amplifier_hooks.mcp.gateway.http.sse import EventReader, write_event
from tests.hooks.mcp.gateway.http.raw_server import (
    STREAM,
    Handler,
    Request,
    ask,
    ask_modern,
    run_channel,
    take,
    take_error,
    tell,
)

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
