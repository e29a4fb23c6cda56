"""The endpoint at /mcp."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.frames import answer, write_frame
from amplifier_hooks.mcp.gateway.http.incoming import answering as answering_module
from tests.hooks.mcp.gateway.http.incoming.asgi import (
    ask,
    ask_modern,
    mirror,
    open_world,
)
from tests.support.waiting import wait_until


async def test_a_session_is_begun_used_and_ended():
    """After its end, its id is unknown, and the relay has been told."""
    async with open_world() as world:
        id = await world.begin()
        told = world.post({"jsonrpc": "2.0", "method": "notifications/x"}, mcp_session_id=id)
        assert (await told.end(), told.status) == (None, 202)
        assert await told.take() is None
        call = world.post(ask("tools/list", 5), mcp_session_id=id)
        assert await call.end() == {"jsonrpc": "2.0", "id": 5, "result": {"asked": "tools/list"}}
        deleted = world.call("DELETE", mcp_session_id=id)
        await deleted.end()
        assert deleted.status == 204
        assert await deleted.take() is None
        await asyncio.wait_for(world.relay.left.get(), 30)
        late = world.post(ask("tools/list"), mcp_session_id=id)
        assert (await late.end())["error"]["message"].startswith("There is no such session")
        assert late.status == 404


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (ask("tools/list"), {}, 400),
        (ask("tools/list"), {"mcp_session_id": "made-up"}, 404),
        ([ask("initialize"), ask("tools/list", 2)], {}, 400),
        (ask("initialize"), {"mcp_session_id": "made-up"}, 400),
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"initialize"}', {}, 400),
        (ask("initialize"), {"origin": "https://evil.example"}, 403),
        (ask("initialize"), {"host": "evil.example"}, 421),
    ],
)
async def test_what_is_no_message_of_a_session_reaches_nobody(
    body: Any, headers: dict[str, str], status: int
):
    """No relay is started for it."""
    async with open_world() as world:
        call = world.post(body, **headers)
        assert "error" in await call.end()
        assert call.status == status
        assert world.relay.clients == []


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "_meta", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=10,
)


@given(st.binary(max_size=80) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=40)
def test_rubbish_is_refused_and_breaks_nothing(body: bytes):
    """Every body has an answer, and a good one after it, too."""

    async def try_it() -> None:
        async with open_world() as world:
            id = await world.begin()
            for headers in ({}, {"mcp_session_id": id}, {"mcp_protocol_version": "2026-07-28"}):
                call = world.post(body, **headers)
                await call.end()
                assert call.status in (200, 202, 400)
            assert "result" in await world.post(ask("ping", "last"), mcp_session_id=id).end()

    asyncio.run(try_it())


async def test_several_messages_in_one_body_are_answered_together():
    """As versions before 2025-06-18 allow."""
    async with open_world() as world:
        id = await world.begin()
        call = world.post([ask("a", 1), ask("b", 2)], mcp_session_id=id, accept="application/json")
        assert [one["id"] for one in await call.end()] == [1, 2]


async def test_progress_and_answer_come_on_the_stream_of_the_request():
    """Other messages on the stream of the session."""
    async with open_world() as world:
        id = await world.begin()
        world.relay.answers_at_once = False
        stream = world.call("GET", mcp_session_id=id)
        call = world.post(ask("tools/call", _meta={"progressToken": 1}), mcp_session_id=id)
        client, _ = await world.relay.take()
        await client.send(_tell("notifications/progress", progressToken=1))
        await client.send(_tell("notifications/message"))
        await client.send(answer(1, {}))
        assert [one and one.get("method") for one in [await call.take(), await call.take()]] == [
            "notifications/progress",
            None,
        ]
        assert await call.take() is None
        assert ((await stream.take()) or {})["method"] == "notifications/message"
        await stream.leave()
        assert call.headers["content-type"] == "text/event-stream"


def _tell(method: str, **params: Any) -> Any:
    return write_frame({"jsonrpc": "2.0", "method": method, "params": params})


async def test_a_client_that_is_killed_cancels_its_calls():
    """The relay is told for each."""
    async with open_world() as world:
        id = await world.begin()
        world.relay.answers_at_once = False
        call = world.post(ask("tools/call", 7), mcp_session_id=id)
        assert (await world.relay.take())[1].message["id"] == 7
        await call.leave()
        _, cancelled = await world.relay.take()
        assert (cancelled.method, cancelled.params["requestId"]) == ("notifications/cancelled", 7)


async def test_the_answer_of_a_client_to_the_server_is_passed_on():
    """Sampling and elicitation, before 2026-07-28."""
    async with open_world() as world:
        id = await world.begin()
        call = world.post({"jsonrpc": "2.0", "id": "q", "result": {"x": 1}}, mcp_session_id=id)
        await call.end()
        assert call.status == 202
        assert (await world.relay.take())[1].message["result"] == {"x": 1}


async def test_messages_wait_for_a_client_that_has_left_its_stream():
    """They come on the next one."""
    async with open_world() as world:
        id = await world.begin()
        stream = world.call("GET", mcp_session_id=id)
        await world.relay.clients[0].send(_tell("notifications/message", number=1))
        assert ((await stream.take()) or {})["params"] == {"number": 1}
        await stream.leave()
        await world.relay.clients[0].send(_tell("notifications/message", number=2))
        again = world.call("GET", mcp_session_id=id)
        assert ((await again.take()) or {})["params"] == {"number": 2}
        await again.leave()
        assert again.headers["content-type"] == "text/event-stream"


async def test_the_credential_of_a_client_is_passed_on_if_that_is_asked_for():
    """In a session and without one, and a session is no use to anybody else."""
    async with open_world(passes_authorization=True) as world:
        id = await world.begin(authorization="Bearer a")
        message = ask_modern("ping")
        await world.post(message, **mirror(message, authorization="Bearer b")).end()
        assert world.relay.headers == [{"Authorization": "Bearer a"}, {"Authorization": "Bearer b"}]
        for call in (
            world.post(ask("ping"), mcp_session_id=id, authorization="Bearer b"),
            world.call("GET", mcp_session_id=id, authorization="Bearer b"),
            world.call("DELETE", mcp_session_id=id),
        ):
            await call.end()
            assert call.status == 404
        own = world.post(ask("ping"), mcp_session_id=id, authorization="Bearer a")
        assert "result" in await own.end()


@pytest.mark.parametrize(("method", "status"), [("GET", 405), ("DELETE", 400)])
async def test_without_a_session_there_is_no_stream_and_nothing_to_end(method: str, status: int):
    """And a stream has to be accepted."""
    async with open_world() as world:
        call = world.call(method)
        await call.end()
        assert call.status == status
        id = await world.begin()
        stream = world.call("GET", mcp_session_id=id, accept="application/json")
        await stream.end()
        assert stream.status == 406


async def test_a_message_that_stands_by_itself_needs_no_session():
    """Its id comes back; all of them share one relay, and none is named a session."""
    async with open_world() as world:
        for id in (1, 1):
            message = ask_modern("tools/call", id, name="add")
            call = world.post(message, **mirror(message))
            assert (await call.end())["id"] == id
            assert "mcp-session-id" not in call.headers
        ids = {(await world.relay.take())[1].message["id"] for _ in range(2)}
        assert len(ids) == 2
        assert len(world.relay.clients) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"mcp_protocol_version": "2025-11-25"},
        {"mcp_method": "tools/list"},
        {"mcp_name": "other"},
        {"mcp_name": "=?base64?*?="},
        {"mcp_name": ""},
    ],
)
async def test_headers_that_say_something_else_are_refused(changes: dict[str, str]):
    """Somebody on the way could have let it pass for what it is not."""
    message = ask_modern("tools/call", 9, name="add")
    async with open_world() as world:
        call = world.post(message, **{**mirror(message), **changes})
        refused = await call.end()
        assert (call.status, refused["id"], refused["error"]["code"]) == (400, 9, -32020)
        assert world.relay.arrived.empty()


async def test_an_encoded_name_is_compared_decoded():
    """As clients must send names that no header can have."""
    message = ask_modern("tools/call", name="añadir")
    async with open_world() as world:
        call = world.post(message, **mirror(message, mcp_name="=?base64?YcOxYWRpcg==?="))
        assert "result" in await call.end()


async def test_a_version_in_the_header_alone_is_refused():
    """The message must state it."""
    async with open_world() as world:
        call = world.post(ask("tools/list", 3), mcp_protocol_version="2026-07-28")
        assert (await call.end())["error"]["code"] == -32020
        note = world.post(
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
            mcp_protocol_version="2026-07-28",
        )
        assert "closing its stream" in (await note.end())["error"]["message"]


async def test_an_error_without_a_session_has_its_status():
    """A method that the server does not know is 404."""
    async with open_world() as world:
        world.relay.answers_at_once = False
        message = ask_modern("x/new")
        call = world.post(message, **mirror(message))
        client, frame = await world.relay.take()
        error = {"code": -32601, "message": "no"}
        await client.send(
            write_frame({"jsonrpc": "2.0", "id": frame.message["id"], "error": error})
        )
        assert (await call.end())["error"] == error
        assert call.status == 404


async def test_a_client_without_session_that_is_killed_cancels_its_call():
    """And that of nobody else."""
    async with open_world() as world:
        world.relay.answers_at_once = False
        message = ask_modern("tools/call", name="x")
        call, other = (world.post(message, **mirror(message)) for _ in range(2))
        client, first = await world.relay.take()
        _, second = await world.relay.take()
        await call.leave()
        _, cancelled = await world.relay.take()
        assert cancelled.params["requestId"] == first.message["id"]
        await client.send(answer(second.message["id"], {}))
        assert (await other.end())["result"] == {}


async def test_a_server_that_dies_is_told_to_clients_and_started_anew():
    """The next `initialize` gets another one."""
    async with open_world() as world:
        id = await world.begin()
        world.relay.answers_at_once = False
        call = world.post(ask("tools/call"), mcp_session_id=id)
        client, _ = await world.relay.take()
        await client.close()
        assert "ended the connection" in (await call.end())["error"]["message"]
        late = world.post(ask("ping"), mcp_session_id=id)
        await late.end()
        assert late.status == 404
        world.relay.answers_at_once = True
        assert await world.begin() != id


async def test_a_long_call_keeps_the_connection_alive(monkeypatch: pytest.MonkeyPatch):
    """With a stream, as soon as it is not answered at once."""
    monkeypatch.setattr(answering_module, "SOON", 0.001)
    async with open_world() as world:
        id = await world.begin()
        world.relay.answers_at_once = False
        call = world.post(ask("tools/call"), mcp_session_id=id)
        client, _ = await world.relay.take()
        await wait_until(lambda: call.headers.get("content-type") == "text/event-stream")
        await client.send(answer(1, {"late": True}))
        assert ((await call.take()) or {})["result"] == {"late": True}
        assert await call.take() is None
        assert json.dumps(call.headers).count(id) == 1
