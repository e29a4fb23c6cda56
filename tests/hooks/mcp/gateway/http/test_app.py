"""The endpoint at /mcp."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.guards.mcp.frames import answer, read_frames, write_frame
from amplifier_hooks.mcp.gateway.channel import Channel, ChannelError
from amplifier_hooks.mcp.gateway.http import HttpServer, ListenSettings, listen
from amplifier_hooks.mcp.gateway.http import app as answering_module
from amplifier_hooks.mcp.gateway.http import app as listening_module
from amplifier_hooks.mcp.gateway.http.app import Answer
from amplifier_hooks.mcp.gateway.http.clients import Reply, Serve
from amplifier_hooks.mcp.gateway.http.wire_format import PING, write_event
from tests.hooks.mcp.gateway.http.asgi import (
    Relay,
    ask,
    ask_modern,
    mirror,
    open_world,
    run_listening,
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
        answer = Answer(reply, self.send, {"X": "1"}, accepts_json=json, modern=modern)
        async with asyncio.timeout(30):
            return await answer.write(self.receive)


async def test_an_answer_that_is_there_is_json():
    """Without a stream around it."""
    client, reply = Client(), Reply({"1"}, accepts_events=True)
    reply.answer("1", ANSWER)
    assert await client.take(reply)
    assert (client.status, client.kind, client.parts) == (200, "application/json", [ANSWER])
    assert client.is_ended


@pytest.mark.parametrize(("modern", "status"), [(True, 404), (False, 200)])
async def test_errors_have_a_status_without_a_session(modern: bool, status: int):
    """As the protocol wants it since 2026-07-28."""
    client, reply = Client(), Reply({"1"}, accepts_events=True)
    reply.answer("1", ERROR)
    assert await client.take(reply, modern=modern)
    assert client.status == status


async def test_several_messages_are_a_stream():
    """In their order; the last part ends it."""
    client, reply = Client(), Reply({"1"}, accepts_events=True)
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
    client, reply = Client(), Reply({"1"}, accepts_events=True)
    writing = asyncio.create_task(client.take(reply))
    while len(client.parts) < 3:
        await asyncio.sleep(0.001)
    reply.answer("1", ANSWER)
    assert await writing
    assert client.parts[:3] == [PING] * 3
    assert client.parts[-2:] == [write_event(ANSWER), b""]


@pytest.mark.parametrize(("count", "expected"), [(1, ANSWER), (2, b"[%s,%s]" % (ANSWER, ANSWER))])
async def test_a_client_that_accepts_json_only_waits_for_it(
    count: int, expected: bytes, monkeypatch: pytest.MonkeyPatch
):
    """However long it takes; several answers are a list."""
    monkeypatch.setattr(answering_module, "SOON", 0.001)
    client, reply = Client(), Reply({str(one) for one in range(count)}, accepts_events=False)
    writing = asyncio.create_task(client.take(reply))
    await asyncio.sleep(0.005)
    for one in range(count):
        reply.answer(str(one), ANSWER)
    assert await writing
    assert client.parts == [expected]


async def test_a_client_that_accepts_events_only_gets_them():
    """Also for a single answer."""
    client, reply = Client(), Reply({"1"}, accepts_events=True)
    reply.answer("1", ANSWER)
    assert await client.take(reply, json=False)
    assert client.kind == "text/event-stream"


async def test_a_client_that_leaves_ends_the_writing():
    """Whoever called is told, to cancel the request."""
    client, reply = Client(), Reply({"1"}, accepts_events=True)
    writing = asyncio.create_task(client.take(reply))
    await asyncio.sleep(0)
    client.left.set()
    assert not await writing


async def test_a_client_that_does_not_read_has_left(monkeypatch: pytest.MonkeyPatch):
    """After some time."""
    monkeypatch.setattr(answering_module, "SLOW_SECONDS", 0.001)
    reply = Reply({"1"}, accepts_events=True)
    reply.answer("1", ANSWER)
    assert not await Client(reads=False).take(reply)


@pytest.mark.parametrize("accepts_events", [True, False])
async def test_a_reply_that_was_given_up_is_not_complete(accepts_events: bool):
    """The client must not take it for whole."""
    client, reply = Client(), Reply({"1"}, accepts_events=accepts_events)
    reply.is_overrun = True
    reply.end()
    assert not await client.take(reply, json=not accepts_events)
    assert client.kind != "application/json"


async def _pump(source: Channel, target: Channel) -> None:
    while (raw := await source.receive()) is not None:
        for frame in read_frames(raw):
            await target.send(frame)


def _pass_to(url: str) -> Serve:
    """A relay that judges nothing."""

    async def serve(client: Channel, headers: Mapping[str, str]) -> None:
        server = HttpServer(url, headers)
        pumps = [
            asyncio.create_task(_pump(client, server)),
            asyncio.create_task(_pump(server, client)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        await server.close()
        for pump in pumps:
            await cancel_and_wait(pump)

    return serve


async def test_clients_and_servers_of_the_sdk_understand_us_in_both_eras():
    """Listing, calling, progress, and many calls at once, through both of our ends."""
    from mcp import Client

    from tests.hooks.mcp.gateway.http.sdk_server import run_sdk_server

    noted: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        noted.append(progress)

    async with run_sdk_server() as url, run_listening(_pass_to(url)) as port:
        address = f"http://127.0.0.1:{port}/mcp"
        for mode in ("auto", "legacy"):
            async with Client(address, mode=mode) as client:  # type: ignore[arg-type]
                assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]
                calls = (
                    client.call_tool("add", {"a": number, "b": 1}, progress_callback=note)
                    for number in range(10)
                )
                sums = [one.structured_content for one in await asyncio.gather(*calls)]
                assert sums == [{"result": number + 1} for number in range(10)]
    assert noted == [1.0] * 20


async def test_a_real_client_that_is_killed_cancels_its_call():
    """The connection ends without a word, also in the midst of a message."""
    relay = Relay()
    relay.answers_at_once = False
    body = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":'
        b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}'
    )
    async with run_listening(relay.serve) as port:
        head = (
            b"POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n"
            b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
            b"Content-Length: %d\r\n\r\n"
        ) % (port, len(body))
        for sent in (head + body[:20], head + body):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            await writer.drain()
            if sent.endswith(body):
                assert (await relay.take())[1].method == "tools/call"
            writer.close()
        assert (await relay.take())[1].method == "notifications/cancelled"


async def test_clients_that_are_idle_are_looked_for(monkeypatch: pytest.MonkeyPatch):
    """And those that are connected are taken leave of at the end."""
    monkeypatch.setattr(listening_module, "_SWEEP_SECONDS", 0.01)
    relay = Relay()
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize"}'
    request = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n"
        b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    )
    async with run_listening(relay.serve, idle_seconds=0.02) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request % port)
        assert await asyncio.wait_for(relay.left.get(), 30) is relay.clients[0]
        writer.close()
    async with run_listening(relay.serve) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request % port)
        await wait_until(lambda: len(relay.clients) == 2)
        writer.close()
    assert relay.left.get_nowait() is relay.clients[1]


async def test_a_port_in_use_is_said():
    """With what to do."""
    async with run_listening(Relay().serve) as port:
        with pytest.raises(ChannelError, match=f"Port {port} is in use"):
            await listen(ListenSettings(port=port), Relay().serve)


async def test_a_host_that_is_not_ours_is_said():
    """With the reason of the system."""
    settings = ListenSettings("192.0.2.1", token="a-token-of-sixteen")
    with pytest.raises(ChannelError, match=r"Cannot listen on 192\.0\.2\.1"):
        await listen(settings, Relay().serve)


async def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch):
    """Before anything listens."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ModuleLoadError, match=r"'uvicorn'.*\[mcp\]"):
        await listen(ListenSettings(), Relay().serve)


async def test_signals_are_left_to_who_runs_it():
    """The command ends everything in order."""
    before = signal.getsignal(signal.SIGTERM)
    async with run_listening(Relay().serve):
        assert signal.getsignal(signal.SIGTERM) is before
