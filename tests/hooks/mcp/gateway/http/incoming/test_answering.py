"""Writing a reply."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_hooks.mcp.gateway.http.incoming import answering as answering_module
from amplifier_hooks.mcp.gateway.http.incoming.answering import Answer
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply
from amplifier_hooks.mcp.gateway.http.sse import PING, write_event

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
ERROR = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'


class Client:
    """One that reads what comes."""

    def __init__(self, *, reads: bool = True) -> None:
        self.status = 0
        self.kind = ""
        self.parts: list[bytes] = []
        self.is_ended = False
        self.left = asyncio.Event()
        self._reads = reads

    async def send(self, message: Any) -> None:
        """What the application writes."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.kind = dict(message["headers"])[b"content-type"].decode()
        elif not self._reads:
            await asyncio.Event().wait()
        else:
            self.parts.append(message["body"])
            self.is_ended = not message["more_body"]

    async def receive(self) -> dict[str, Any]:
        """Nothing, until it leaves."""
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def take(self, reply: Reply, *, json: bool = True, modern: bool = False) -> bool:
        """Whether the whole reply was written."""
        answer = Answer(reply, self.send, {"X": "1"}, takes_json=json, modern=modern)
        async with asyncio.timeout(30):
            return await answer.write(self.receive)


async def test_an_answer_that_is_there_is_json():
    """Without a stream around it."""
    client, reply = Client(), Reply({"1"}, takes_events=True)
    reply.answer("1", ANSWER)
    assert await client.take(reply)
    assert (client.status, client.kind, client.parts) == (200, "application/json", [ANSWER])
    assert client.is_ended


@pytest.mark.parametrize(("modern", "status"), [(True, 404), (False, 200)])
async def test_errors_have_a_status_without_a_session(modern: bool, status: int):
    """As the protocol wants it since 2026-07-28."""
    client, reply = Client(), Reply({"1"}, takes_events=True)
    reply.answer("1", ERROR)
    assert await client.take(reply, modern=modern)
    assert client.status == status


async def test_several_messages_are_a_stream():
    """In their order; the last part ends it."""
    client, reply = Client(), Reply({"1"}, takes_events=True)
    reply.add(b"{}")
    reply.answer("1", ANSWER)
    assert await client.take(reply)
    assert client.kind == "text/event-stream"
    assert client.parts == [PING, write_event(b"{}"), write_event(ANSWER), b""]


async def test_an_answer_that_takes_its_time_is_a_stream_with_pings(
    monkeypatch: pytest.MonkeyPatch,
):
    """So that the client does not give up while a person is asked."""
    monkeypatch.setattr(answering_module, "SOON", 0.001)
    monkeypatch.setattr(answering_module, "PING_SECONDS", 0.001)
    client, reply = Client(), Reply({"1"}, takes_events=True)
    writing = asyncio.create_task(client.take(reply))
    while len(client.parts) < 3:
        await asyncio.sleep(0.001)
    reply.answer("1", ANSWER)
    assert await writing
    assert client.parts[:3] == [PING] * 3
    assert client.parts[-2:] == [write_event(ANSWER), b""]


@pytest.mark.parametrize(("count", "expected"), [(1, ANSWER), (2, b"[%s,%s]" % (ANSWER, ANSWER))])
async def test_a_client_that_takes_json_only_waits_for_it(
    count: int, expected: bytes, monkeypatch: pytest.MonkeyPatch
):
    """However long it takes; several answers are a list."""
    monkeypatch.setattr(answering_module, "SOON", 0.001)
    client, reply = Client(), Reply({str(one) for one in range(count)}, takes_events=False)
    writing = asyncio.create_task(client.take(reply))
    await asyncio.sleep(0.005)
    for one in range(count):
        reply.answer(str(one), ANSWER)
    assert await writing
    assert client.parts == [expected]


async def test_a_client_that_takes_events_only_gets_them():
    """Also for a single answer."""
    client, reply = Client(), Reply({"1"}, takes_events=True)
    reply.answer("1", ANSWER)
    assert await client.take(reply, json=False)
    assert client.kind == "text/event-stream"


async def test_a_client_that_leaves_ends_the_writing():
    """Whoever called is told, to cancel the request."""
    client, reply = Client(), Reply({"1"}, takes_events=True)
    writing = asyncio.create_task(client.take(reply))
    await asyncio.sleep(0)
    client.left.set()
    assert not await writing


async def test_a_client_that_does_not_read_has_left(monkeypatch: pytest.MonkeyPatch):
    """After some time."""
    monkeypatch.setattr(answering_module, "SLOW_SECONDS", 0.001)
    reply = Reply({"1"}, takes_events=True)
    reply.answer("1", ANSWER)
    assert not await Client(reads=False).take(reply)


@pytest.mark.parametrize("takes_events", [True, False])
async def test_a_reply_that_was_given_up_is_not_complete(takes_events: bool):
    """The client must not take it for whole."""
    client, reply = Client(), Reply({"1"}, takes_events=takes_events)
    reply.is_overrun = True
    reply.end()
    assert not await client.take(reply, json=not takes_events)
    assert client.kind != "application/json"
