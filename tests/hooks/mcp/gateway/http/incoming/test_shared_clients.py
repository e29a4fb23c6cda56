"""The channel to all clients without a session."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from amplifier_hooks.guards.mcp.frames import Frame, answer, write_frame
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply
from amplifier_hooks.mcp.gateway.http.incoming.shared_clients import SUBSCRIPTION, SharedClients


def _ask(id: Any = 1, method: str = "tools/call", **meta: Any) -> Frame:
    params = {"name": "x", "_meta": meta}
    return write_frame({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def _tell(method: str, **params: Any) -> Frame:
    return write_frame({"jsonrpc": "2.0", "method": method, "params": params})


async def _receive(shared: SharedClients) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await shared.receive() or b"")
    return found


def _take_all(reply: Reply) -> list[Any]:
    return [json.loads(raw) for raw in iter(reply.take, None)]


async def test_clients_may_use_the_same_ids_and_tokens():
    """Inside each is another one; outside each gets its own back."""
    shared = SharedClients()
    replies = [await shared.take(_ask(7, progressToken="t"), takes_events=True) for _ in range(2)]
    inside = [await _receive(shared) for _ in range(2)]
    assert len({one["id"] for one in inside}) == 2
    for number, one in enumerate(inside):
        token = one["params"]["_meta"]["progressToken"]
        await shared.send(_tell("notifications/progress", progressToken=token, progress=number))
        await shared.send(answer(one["id"], {"number": number}))
    for number, reply in enumerate(replies):
        progress, result = _take_all(reply)
        assert progress["params"] == {"progressToken": "t", "progress": number}
        assert (result["id"], result["result"]) == (7, {"number": number})
    assert shared.is_idle


async def test_a_message_is_otherwise_passed_on_as_it_is():
    """Without a token, nothing but the id is changed."""
    shared = SharedClients()
    frame = _ask("a", "x/unknown", other=1)
    await shared.take(frame, takes_events=True)
    inside = await _receive(shared)
    assert {**inside, "id": "a"} == frame.message


async def test_a_subscription_is_named_as_its_client_has_named_it():
    """Its notifications have the id of the request that opened it."""
    shared = SharedClients()
    reply = await shared.take(_ask(3, "subscriptions/listen"), takes_events=True)
    await shared.take(_ask(3, "subscriptions/listen"), takes_events=True)
    id = (await _receive(shared))["id"]
    await shared.send(_tell("notifications/tools/list_changed", _meta={SUBSCRIPTION: id}))
    await shared.send(_tell("notifications/tools/list_changed", _meta={SUBSCRIPTION: "gone"}))
    assert [one["params"]["_meta"] for one in _take_all(reply)] == [{SUBSCRIPTION: 3}]


async def test_what_names_no_request_is_for_the_only_client_or_for_nobody(
    caplog: pytest.LogCaptureFixture,
):
    """No client may read what was meant for another."""
    shared = SharedClients()
    first = await shared.take(_ask(), takes_events=True)
    await shared.send(_tell("notifications/message", data=1, _meta={"other": 1}))
    second = await shared.take(_ask(), takes_events=True)
    with caplog.at_level(logging.WARNING):
        await shared.send(_tell("notifications/message", data=2))
    assert [one["params"]["data"] for one in _take_all(first)] == [1]
    assert _take_all(second) == []
    assert "notifications/message was dropped" in caplog.text


async def test_a_server_that_asks_is_told_that_nobody_answers():
    """There are no requests to clients any more; it must not wait."""
    shared = SharedClients()
    await shared.send(_ask("of the server", "roots/list"))
    refused = await _receive(shared)
    assert (refused["id"], refused["error"]["code"]) == ("of the server", -32601)


async def test_a_client_that_leaves_cancels_its_request_and_no_other():
    """By the id that is used inside."""
    shared = SharedClients()
    replies = [await shared.take(_ask(), takes_events=True) for _ in range(2)]
    ids = [(await _receive(shared))["id"] for _ in range(2)]
    await shared.leave(replies[0])
    cancelled = await _receive(shared)
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == ids[0]
    await shared.send(answer(ids[0], {}))
    await shared.send(answer(ids[1], {}))
    assert (_take_all(replies[0]), len(_take_all(replies[1]))) == ([], 1)


async def test_a_notification_is_passed_on_and_has_no_answer():
    """Of a kind that the protocol may get one day."""
    shared = SharedClients()
    reply = await shared.take(_tell("notifications/new"), takes_events=True)
    assert not reply.open
    assert (await _receive(shared))["method"] == "notifications/new"


async def test_headers_of_arguments_are_learned_from_the_list():
    """As the server marks them in its tools."""
    shared = SharedClients()
    call = write_frame(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "query", "arguments": {"region": "eu"}},
        }
    )
    assert shared.list_headers(call) == {}
    await shared.take(_ask(1, "tools/list"), takes_events=True)
    marked = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    tools = [{"name": "query", "inputSchema": marked}]
    await shared.send(answer((await _receive(shared))["id"], {"tools": tools}))
    assert shared.list_headers(call) == {"Mcp-Param-Region": "eu"}


async def test_the_end_answers_everybody():
    """Requests with the reason, the relay with None, later ones with 503."""
    shared = SharedClients()
    reply = await shared.take(_ask("a"), takes_events=True)
    shared.fail("the server has gone")
    shared.fail("again")
    [error] = _take_all(reply)
    assert (error["id"], error["error"]["message"]) == ("a", "the server has gone")
    assert shared.is_closed
    assert [await shared.receive() for _ in range(2)] == [None, None]
    with pytest.raises(ChannelError, match="the server has gone"):
        await shared.send(answer(1, {}))
    with pytest.raises(Refusal) as raised:
        await shared.take(_ask(), takes_events=True)
    assert raised.value.status == 503
    await shared.close()
