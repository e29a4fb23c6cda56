"""Clients that connect by HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from amplifier_hooks.guards.mcp.frames import Frame, answer, write_frame
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http import clients as client_channels
from amplifier_hooks.mcp.gateway.http import clients as hub_module
from amplifier_hooks.mcp.gateway.http import clients as reply_module
from amplifier_hooks.mcp.gateway.http import clients as session_module
from amplifier_hooks.mcp.gateway.http.clients import (
    SUBSCRIPTION,
    ClientSession,
    Hub,
    Inbox,
    Reply,
    SharedClients,
)
from amplifier_hooks.mcp.gateway.http.guard import ListenSettings, MessageRefusal
from tests.hooks.mcp.gateway.http.asgi import Relay
from tests.support.waiting import wait_until


async def test_messages_come_in_their_order_and_the_end_stays() -> None:
    """Whoever asks again learns of the end again."""
    box = Inbox()
    await box.add(b"a")
    box.add_if_room(b"b")
    assert [await box.read(), await box.read()] == [b"a", b"b"]
    await box.add(b"lost")
    box.end()
    assert [await box.read(), await box.read()] == [None, None]


async def test_who_sends_waits_for_room_and_who_cannot_wait_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client that sends faster than its messages are read is held up."""
    monkeypatch.setattr(client_channels, "_WAITING", 1)
    box = Inbox()
    await box.add(b"a")
    box.add_if_room(b"left out")
    late = asyncio.create_task(box.add(b"b"))
    await asyncio.sleep(0)
    assert not late.done()
    assert await box.read() == b"a"
    await late
    assert await box.read() == b"b"


async def test_messages_come_in_order_and_end_with_the_last_answer():
    """Two requests in one body have two answers."""
    reply = Reply({"1", "2"}, accepts_events=True)
    reply.add(b"a")
    reply.answer("1", b"b")
    assert not reply.is_ended
    reply.answer("2", b"c")
    reply.add(b"too late")
    assert [reply.pop() for _ in range(4)] == [b"a", b"b", b"c", None]
    assert reply.is_drained


async def test_whoever_waits_is_woken_by_a_message_or_the_end():
    """Nobody polls."""
    reply = Reply({"1"}, accepts_events=True)
    waiting = asyncio.create_task(reply.wait())
    ending = asyncio.create_task(reply.wait_for_end())
    await asyncio.sleep(0)
    reply.add(b"a")
    await asyncio.wait_for(waiting, 30)
    assert not ending.done()
    reply.end()
    await asyncio.wait_for(ending, 30)


def test_a_client_that_takes_one_answer_gets_nothing_else():
    """There is no place for it."""
    reply = Reply({"1"}, accepts_events=False)
    reply.add(b"progress")
    reply.answer("1", b"answer")
    assert reply.is_lone_answer


def test_a_client_that_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """What waits for it has a limit; a single message may be as large as it likes."""
    monkeypatch.setattr(reply_module, "LARGEST_BACKLOG", 10)
    reply = Reply({"1"}, accepts_events=True)
    reply.add(b"x" * 50)
    assert not reply.is_overrun
    reply.add(b"y")
    assert (reply.is_overrun, reply.is_ended, reply.pop()) == (True, True, None)


def _ask(id: Any = 1, token: Any = None) -> Frame:
    params = {} if token is None else {"_meta": {"progressToken": token}}
    return write_frame({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})


def _tell(method: str = "notifications/message", **params: Any) -> Frame:
    return write_frame({"jsonrpc": "2.0", "method": method, "params": params})


def _take_all(reply: Reply) -> list[Any]:
    return [json.loads(raw) for raw in iter(reply.pop, None)]


async def test_each_answer_goes_to_who_asked():
    """Also if 1 and "1" are two requests."""
    session = ClientSession("s")
    first = await session.submit([_ask(1)], accepts_events=True)
    second = await session.submit([_ask("1")], accepts_events=True)
    assert await session.receive() == _ask(1).raw
    await session.send(answer("1", {"x": 2}))
    await session.send(answer(1, {"x": 1}))
    await session.send(answer(3, {}))
    assert [one["result"]["x"] for one in (*_take_all(first), *_take_all(second))] == [1, 2]
    assert session.is_idle


async def test_an_id_is_used_once_at_a_time():
    """Two answers with one id could not be told apart."""
    session = ClientSession("s")
    reply = await session.submit([_ask()], accepts_events=True)
    with pytest.raises(MessageRefusal, match="under way") as raised:
        await session.submit([_ask()], accepts_events=True)
    assert raised.value.id == 1
    await session.send(answer(1, {}))
    assert reply.is_ended
    await session.submit([_ask()], accepts_events=True)


async def test_progress_goes_with_its_request_and_nowhere_else():
    """What came too late, or names no request, is dropped."""
    session = ClientSession("s")
    stream = session.open_stream()
    reply = await session.submit([_ask(1, token="t")], accepts_events=True)
    for token in ("t", "other"):
        await session.send(_tell("notifications/progress", progressToken=token))
    await session.send(answer(1, {}))
    await session.send(_tell("notifications/progress", progressToken="t"))
    assert [one.get("method") for one in _take_all(reply)] == ["notifications/progress", None]
    assert _take_all(stream) == []


async def test_other_messages_go_to_the_stream_or_to_a_request_or_wait_for_one():
    """Nothing is lost because no stream is open at the moment."""
    session = ClientSession("s")
    plain = await session.submit([_ask(1)], accepts_events=False)
    await session.send(_tell(number=1))
    reply = await session.submit([_ask(2)], accepts_events=True)
    await session.send(_tell(number=2))
    stream = session.open_stream()
    await session.send(_tell(number=3))
    assert [one["params"]["number"] for one in _take_all(stream)] == [1, 3]
    assert [one["params"]["number"] for one in _take_all(reply)] == [2]
    assert _take_all(plain) == []


async def test_a_new_stream_takes_the_place_of_the_old_one():
    """A client that comes back may have left the old one without a word."""
    session = ClientSession("s")
    old, new = session.open_stream(), session.open_stream()
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
    reply = await session.submit([_ask(1), _ask(2)], accepts_events=True)
    await session.send(answer(2, {}))
    await session.cancel(reply)
    found = [json.loads(await session.receive() or b"") for _ in range(3)]
    assert found[2]["method"] == "notifications/cancelled"
    assert found[2]["params"]["requestId"] == 1
    await session.send(answer(1, {}))
    assert session.is_idle


@pytest.mark.parametrize("accepts_events", [True, False])
async def test_what_the_client_cancels_itself_does_not_keep_its_connection(accepts_events: bool):
    """No response comes for it any more: a stream ends, anything else is told."""
    session = ClientSession("s")
    reply = await session.submit([_ask(1)], accepts_events=accepts_events)
    await session.submit([_tell("notifications/cancelled", requestId=1)], accepts_events=True)
    await session.submit([_tell("notifications/cancelled", requestId=1)], accepts_events=True)
    assert reply.is_ended
    assert [one["error"]["message"] for one in _take_all(reply)] == ["cancelled"][accepts_events:]
    assert session.is_idle


async def test_the_end_answers_everybody():
    """Requests with the reason, streams with their end, the relay with None, others with 404."""
    session = ClientSession("s")
    reply = await session.submit([_ask()], accepts_events=True)
    stream = session.open_stream()
    session.fail("the server has gone")
    session.fail("again")
    assert _take_all(reply)[0]["error"]["message"] == "the server has gone"
    assert stream.is_drained
    assert [await session.receive() for _ in range(2)] == [None, None]
    with pytest.raises(ChannelError, match="the server has gone"):
        await session.send(answer(1, {}))
    with pytest.raises(Refusal) as raised:
        await session.submit([_ask()], accepts_events=True)
    assert raised.value.status == 404
    await session.cancel(reply)
    await session.close()


async def test_a_client_that_sends_more_than_is_taken_has_to_wait(monkeypatch: pytest.MonkeyPatch):
    """Memory has an end."""
    monkeypatch.setattr(client_channels, "_WAITING", 1)
    session = ClientSession("s")
    sending = asyncio.create_task(session.submit([_tell(), _tell()], accepts_events=True))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not sending.done()
    await session.receive()
    assert (await sending).open == set()


def _ask_modern(id: Any = 1, method: str = "tools/call", **meta: Any) -> Frame:
    params = {"name": "x", "_meta": meta}
    return write_frame({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def _tell_modern(method: str, **params: Any) -> Frame:
    return write_frame({"jsonrpc": "2.0", "method": method, "params": params})


async def _receive(shared: SharedClients) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await shared.receive() or b"")
    return found


async def test_clients_may_use_the_same_ids_and_tokens():
    """Inside each is another one; outside each gets its own back."""
    shared = SharedClients()
    replies = [
        await shared.submit(_ask_modern(7, progressToken="t"), accepts_events=True)
        for _ in range(2)
    ]
    inside = [await _receive(shared) for _ in range(2)]
    assert len({one["id"] for one in inside}) == 2
    for number, one in enumerate(inside):
        token = one["params"]["_meta"]["progressToken"]
        await shared.send(
            _tell_modern("notifications/progress", progressToken=token, progress=number)
        )
        await shared.send(answer(one["id"], {"number": number}))
    for number, reply in enumerate(replies):
        progress, result = _take_all(reply)
        assert progress["params"] == {"progressToken": "t", "progress": number}
        assert (result["id"], result["result"]) == (7, {"number": number})
    assert shared.is_idle


async def test_a_message_is_otherwise_passed_on_as_it_is():
    """Without a token, nothing but the id is changed."""
    shared = SharedClients()
    frame = _ask_modern("a", "x/unknown", other=1)
    await shared.submit(frame, accepts_events=True)
    inside = await _receive(shared)
    assert {**inside, "id": "a"} == frame.message


async def test_a_subscription_is_named_as_its_client_has_named_it():
    """Its notifications have the id of the request that opened it."""
    shared = SharedClients()
    reply = await shared.submit(_ask_modern(3, "subscriptions/listen"), accepts_events=True)
    await shared.submit(_ask_modern(3, "subscriptions/listen"), accepts_events=True)
    id = (await _receive(shared))["id"]
    await shared.send(_tell_modern("notifications/tools/list_changed", _meta={SUBSCRIPTION: id}))
    await shared.send(
        _tell_modern("notifications/tools/list_changed", _meta={SUBSCRIPTION: "gone"})
    )
    assert [one["params"]["_meta"] for one in _take_all(reply)] == [{SUBSCRIPTION: 3}]


async def test_what_names_no_request_is_for_the_only_client_or_for_nobody(
    caplog: pytest.LogCaptureFixture,
):
    """No client may read what was meant for another."""
    shared = SharedClients()
    first = await shared.submit(_ask_modern(), accepts_events=True)
    await shared.send(_tell_modern("notifications/message", data=1, _meta={"other": 1}))
    second = await shared.submit(_ask_modern(), accepts_events=True)
    with caplog.at_level(logging.WARNING):
        await shared.send(_tell_modern("notifications/message", data=2))
    assert [one["params"]["data"] for one in _take_all(first)] == [1]
    assert _take_all(second) == []
    assert "notifications/message was dropped" in caplog.text


async def test_a_server_that_asks_is_told_that_nobody_answers():
    """There are no requests to clients any more; it must not wait."""
    shared = SharedClients()
    await shared.send(_ask_modern("of the server", "roots/list"))
    refused = await _receive(shared)
    assert (refused["id"], refused["error"]["code"]) == ("of the server", -32601)


async def test_a_client_that_leaves_cancels_its_request_and_no_other():
    """By the id that is used inside."""
    shared = SharedClients()
    replies = [await shared.submit(_ask_modern(), accepts_events=True) for _ in range(2)]
    ids = [(await _receive(shared))["id"] for _ in range(2)]
    await shared.cancel(replies[0])
    cancelled = await _receive(shared)
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == ids[0]
    await shared.send(answer(ids[0], {}))
    await shared.send(answer(ids[1], {}))
    assert (_take_all(replies[0]), len(_take_all(replies[1]))) == ([], 1)


async def test_a_notification_is_passed_on_and_has_no_answer():
    """Of a kind that the protocol may get one day."""
    shared = SharedClients()
    reply = await shared.submit(_tell_modern("notifications/new"), accepts_events=True)
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
    await shared.submit(_ask_modern(1, "tools/list"), accepts_events=True)
    marked = {"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    tools = [{"name": "query", "inputSchema": marked}]
    await shared.send(answer((await _receive(shared))["id"], {"tools": tools}))
    assert shared.list_headers(call) == {"Mcp-Param-Region": "eu"}


async def test_shared_clients_the_end_answers_everybody():
    """Requests with the reason, the relay with None, later ones with 503."""
    shared = SharedClients()
    reply = await shared.submit(_ask_modern("a"), accepts_events=True)
    shared.fail("the server has gone")
    shared.fail("again")
    [error] = _take_all(reply)
    assert (error["id"], error["error"]["message"]) == ("a", "the server has gone")
    assert shared.is_closed
    assert [await shared.receive() for _ in range(2)] == [None, None]
    with pytest.raises(ChannelError, match="the server has gone"):
        await shared.send(answer(1, {}))
    with pytest.raises(Refusal) as raised:
        await shared.submit(_ask_modern(), accepts_events=True)
    assert raised.value.status == 503
    await shared.close()


REQUEST = write_frame({"jsonrpc": "2.0", "id": 1, "method": "ping"})


def _refused(call: object, *arguments: object) -> int:
    with pytest.raises(Refusal) as raised:
        call(*arguments)  # type: ignore[operator]
    return raised.value.status


async def test_each_session_has_a_relay_and_the_others_share_one():
    """Sessions are told apart by ids that nobody can guess."""
    relay = Relay()
    hub = Hub(ListenSettings(), relay.serve)
    one, two = hub.begin_session(""), hub.begin_session("")
    shared = hub.get_shared("")
    assert hub.get_shared("other") is shared
    await wait_until(lambda: len(relay.clients) == 3)
    assert {id(client) for client in relay.clients} == {id(one), id(two), id(shared)}
    assert len(one.id) >= 32
    assert one.id != two.id
    assert hub.find_session(one.id, "any") is one
    assert _refused(hub.find_session, None, "") == 400
    assert _refused(hub.find_session, "unknown", "") == 404
    await hub.close()
    assert relay.left.qsize() == 3


async def test_there_is_a_limit():
    """Each client costs a process; whoever leaves makes room."""
    hub = Hub(ListenSettings(sessions=2), Relay().serve)
    first = hub.begin_session("")
    hub.get_shared("")
    assert _refused(hub.begin_session, "") == 503
    hub.end_session(first)
    hub.end_session(first)
    hub.begin_session("")
    await hub.close()


async def test_the_limit_counts_those_without_a_session_too():
    """With credentials of their own, each of them has a server."""
    hub = Hub(ListenSettings(sessions=1, passes_authorization=True), Relay().serve)
    shared = hub.get_shared("Bearer a")
    assert _refused(hub.get_shared, "Bearer b") == 503
    assert hub.get_shared("Bearer a") is shared
    await hub.close()


async def test_a_client_that_goes_takes_no_other_with_it():
    """Its session is forgotten, and nobody else's."""
    relay = Relay()
    hub = Hub(ListenSettings(), relay.serve)
    going, staying = hub.begin_session(""), hub.begin_session("")
    shared = hub.get_shared("")
    await wait_until(lambda: len(relay.clients) == 3)
    await going.close()
    await asyncio.wait_for(relay.left.get(), 30)
    await asyncio.sleep(0)
    assert _refused(hub.find_session, going.id, "") == 404
    assert hub.find_session(staying.id, "") is staying
    assert hub.get_shared("") is shared
    await hub.close()
    assert _refused(hub.find_session, staying.id, "") == 404


async def test_a_client_that_was_here_lately_is_not_idle():
    """With a session or without one."""
    now = 1000.0
    hub = Hub(ListenSettings(idle_seconds=10), Relay().serve, lambda: now)
    quiet, heard, shared = hub.begin_session(""), hub.begin_session(""), hub.get_shared("")
    now += 9
    hub.find_session(heard.id, "")
    hub.get_shared("")
    now += 2
    hub.end_idle()
    assert _refused(hub.find_session, quiet.id, "") == 404
    assert hub.find_session(heard.id, "") is heard
    assert hub.get_shared("") is shared
    await hub.close()


async def test_clients_that_say_nothing_are_taken_to_have_left():
    """Unless they wait for something."""
    relay = Relay()
    relay.answers_at_once = False
    hub = Hub(ListenSettings(idle_seconds=-1), relay.serve)
    idle, waiting = hub.begin_session(""), hub.begin_session("")
    shared = hub.get_shared("")
    await waiting.submit([REQUEST], accepts_events=True)
    hub.end_idle()
    assert hub.find_session(waiting.id, "") is waiting
    assert _refused(hub.find_session, idle.id, "") == 404
    assert hub.get_shared("") is not shared
    await hub.close()


async def test_a_client_with_another_credential_is_another_client():
    """If the server gets it: nobody may use what another one is allowed to."""
    relay = Relay()
    hub = Hub(ListenSettings(passes_authorization=True), relay.serve)
    session = hub.begin_session("Bearer a")
    shared = hub.get_shared("Bearer a")
    assert hub.get_shared("Bearer b") is not shared
    assert hub.get_shared("Bearer a") is shared
    assert _refused(hub.find_session, session.id, "Bearer b") == 404
    await wait_until(lambda: len(relay.headers) == 3)
    assert relay.headers[2] == {"Authorization": "Bearer b"}
    await hub.close()


async def test_credentials_are_not_passed_unless_asked_for():
    """They may be meant for somebody else."""
    relay = Relay()
    hub = Hub(ListenSettings(), relay.serve)
    hub.begin_session("Bearer a")
    await wait_until(lambda: bool(relay.headers))
    assert relay.headers == [{}]
    await hub.close()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ChannelError("no such program"), "no such program"),
        (KeyError("x"), "the gateway failed: KeyError"),
    ],
)
async def test_a_relay_that_fails_answers_its_client_and_no_other(
    failure: Exception, reason: str, caplog: pytest.LogCaptureFixture
):
    """With the reason, which is also said; a new one is made for who comes next."""
    relay = Relay()
    hub = Hub(ListenSettings(), relay.serve)
    relay.failure = failure
    with caplog.at_level(logging.WARNING):
        session, shared = hub.begin_session(""), hub.get_shared("")
        reply = await session.submit([REQUEST], accepts_events=True)
        await asyncio.wait_for(reply.wait_for_end(), 30)
    assert reason.encode() in (reply.pop() or b"")
    assert caplog.records
    assert _refused(hub.find_session, session.id, "") == 404
    relay.failure = None
    assert hub.get_shared("") is not shared
    await hub.close()


async def test_a_relay_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch):
    """After some time."""
    monkeypatch.setattr(hub_module, "LEAVING_SECONDS", 0.001)
    started = asyncio.Event()

    async def serve(*_: object) -> None:
        started.set()
        await asyncio.Event().wait()

    hub = Hub(ListenSettings(), serve)
    hub.begin_session("")
    await started.wait()
    await asyncio.wait_for(hub.close(), 30)
