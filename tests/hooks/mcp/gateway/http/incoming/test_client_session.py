"""The channel to a client that has started a session."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from amplifier_hooks.guards.mcp.frames import Frame, answer, write_frame
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.incoming import client_session as session_module
from amplifier_hooks.mcp.gateway.http.incoming import inbox
from amplifier_hooks.mcp.gateway.http.incoming.client_session import ClientSession
from amplifier_hooks.mcp.gateway.http.incoming.guard import MessageRefusal
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply


def _ask(id: Any = 1, token: Any = None) -> Frame:
    params = {} if token is None else {"_meta": {"progressToken": token}}
    return write_frame({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})


def _tell(method: str = "notifications/message", **params: Any) -> Frame:
    return write_frame({"jsonrpc": "2.0", "method": method, "params": params})


def _take_all(reply: Reply) -> list[Any]:
    return [json.loads(raw) for raw in iter(reply.take, None)]


async def test_each_answer_goes_to_who_asked():
    """Also if 1 and "1" are two requests."""
    session = ClientSession("s")
    first = await session.take([_ask(1)], takes_events=True)
    second = await session.take([_ask("1")], takes_events=True)
    assert await session.receive() == _ask(1).raw
    await session.send(answer("1", {"x": 2}))
    await session.send(answer(1, {"x": 1}))
    await session.send(answer(3, {}))
    assert [one["result"]["x"] for one in (*_take_all(first), *_take_all(second))] == [1, 2]
    assert session.is_idle


async def test_an_id_is_used_once_at_a_time():
    """Two answers with one id could not be told apart."""
    session = ClientSession("s")
    reply = await session.take([_ask()], takes_events=True)
    with pytest.raises(MessageRefusal, match="under way") as raised:
        await session.take([_ask()], takes_events=True)
    assert raised.value.id == 1
    await session.send(answer(1, {}))
    assert reply.is_ended
    await session.take([_ask()], takes_events=True)


async def test_progress_goes_with_its_request_and_nowhere_else():
    """What came too late, or names no request, is dropped."""
    session = ClientSession("s")
    stream = session.follow()
    reply = await session.take([_ask(1, token="t")], takes_events=True)
    for token in ("t", "other"):
        await session.send(_tell("notifications/progress", progressToken=token))
    await session.send(answer(1, {}))
    await session.send(_tell("notifications/progress", progressToken="t"))
    assert [one.get("method") for one in _take_all(reply)] == ["notifications/progress", None]
    assert _take_all(stream) == []


async def test_other_messages_go_to_the_stream_or_to_a_request_or_wait_for_one():
    """Nothing is lost because no stream is open at the moment."""
    session = ClientSession("s")
    plain = await session.take([_ask(1)], takes_events=False)
    await session.send(_tell(number=1))
    reply = await session.take([_ask(2)], takes_events=True)
    await session.send(_tell(number=2))
    stream = session.follow()
    await session.send(_tell(number=3))
    assert [one["params"]["number"] for one in _take_all(stream)] == [1, 3]
    assert [one["params"]["number"] for one in _take_all(reply)] == [2]
    assert _take_all(plain) == []


async def test_a_new_stream_takes_the_place_of_the_old_one():
    """A client that comes back may have left the old one without a word."""
    session = ClientSession("s")
    old, new = session.follow(), session.follow()
    await session.send(_tell())
    assert old.is_ended
    assert len(_take_all(new)) == 1


async def test_a_client_that_never_reads_loses_the_oldest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """It is said; and a server that asked something is told, so that it does not wait."""
    monkeypatch.setattr(session_module, "_KEPT", 1)
    session = ClientSession("s")
    with caplog.at_level(logging.WARNING):
        await session.send(_ask("of the server"))
        await session.send(_tell())
    assert "tools/call was dropped" in caplog.text
    refused = json.loads(await session.receive() or b"")
    assert refused["id"] == "of the server"
    assert "error" in refused


async def test_a_client_that_leaves_cancels_what_it_asked_for():
    """Nobody would read the answer, and nobody should be asked about the call any more."""
    session = ClientSession("s")
    reply = await session.take([_ask(1), _ask(2)], takes_events=True)
    await session.send(answer(2, {}))
    await session.leave(reply)
    found = [json.loads(await session.receive() or b"") for _ in range(3)]
    assert found[2]["method"] == "notifications/cancelled"
    assert found[2]["params"]["requestId"] == 1
    await session.send(answer(1, {}))
    assert session.is_idle


@pytest.mark.parametrize("takes_events", [True, False])
async def test_what_the_client_cancels_itself_does_not_keep_its_connection(takes_events: bool):
    """No response comes for it any more: a stream ends, anything else is told."""
    session = ClientSession("s")
    reply = await session.take([_ask(1)], takes_events=takes_events)
    await session.take([_tell("notifications/cancelled", requestId=1)], takes_events=True)
    await session.take([_tell("notifications/cancelled", requestId=1)], takes_events=True)
    assert reply.is_ended
    assert [one["error"]["message"] for one in _take_all(reply)] == ["cancelled"][takes_events:]
    assert session.is_idle


async def test_the_end_answers_everybody():
    """Requests with the reason, streams with their end, the relay with None, others with 404."""
    session = ClientSession("s")
    reply = await session.take([_ask()], takes_events=True)
    stream = session.follow()
    session.fail("the server has gone")
    session.fail("again")
    assert _take_all(reply)[0]["error"]["message"] == "the server has gone"
    assert stream.is_taken
    assert [await session.receive() for _ in range(2)] == [None, None]
    with pytest.raises(ChannelError, match="the server has gone"):
        await session.send(answer(1, {}))
    with pytest.raises(Refusal) as raised:
        await session.take([_ask()], takes_events=True)
    assert raised.value.status == 404
    await session.leave(reply)
    await session.close()


async def test_a_client_that_sends_more_than_is_taken_has_to_wait(monkeypatch: pytest.MonkeyPatch):
    """Memory has an end."""
    monkeypatch.setattr(inbox, "_WAITING", 1)
    session = ClientSession("s")
    sending = asyncio.create_task(session.take([_tell(), _tell()], takes_events=True))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not sending.done()
    await session.receive()
    assert (await sending).open == set()
