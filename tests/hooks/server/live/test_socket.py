"""One WebSocket, over a real server."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack

import pytest
from websockets.exceptions import InvalidStatus

from amplifier_hooks.approvals.models import SessionEntry, SessionRecord
from amplifier_hooks.server.live import socket as live_socket
from amplifier_hooks.server.live.hub import say
from tests.hooks.server.live_client import connect_live, join_live
from tests.hooks.server.world import World
from tests.support.waiting import wait_until


async def test_a_client_is_welcomed_and_gets_everything_that_is_pending(served: World):
    """On connect it always gets the full list of pending approvals."""
    waiting = await served.ask()
    decided = await served.ask()
    await served.store.approvals.withdraw(decided.id)
    token = await served.token("ann", "read")
    async with connect_live(served, Authorization=f"Bearer {token}") as client:
        await client.say(type="hello")
        welcome = await client.hear("welcome")
        pending = await client.hear("pending")
    assert (welcome["name"], welcome["scopes"]) == ("ann", ["read"])
    assert [one["id"] for one in pending["approvals"]] == [waiting.id]
    assert pending["approvals"][0]["scopes"][0]["id"] == "exact"


async def test_more_pending_approvals_than_fit_into_one_message_follow_one_by_one(
    served: World, monkeypatch: pytest.MonkeyPatch
):
    """The list is complete, however long it is."""
    monkeypatch.setattr(live_socket, "_FIRST_APPROVALS", 2)
    asked = {(await served.ask()).id for _ in range(3)}
    async with join_live(served) as client:
        first = {one["id"] for one in (await client.hear("pending"))["approvals"]}
        last = (await client.hear("approval"))["approval"]["id"]
    assert len(first) == 2
    assert first | {last} == asked


async def test_a_question_and_its_decision_are_told_to_everybody(served: World):
    """Live updates: who decides learns it, and so does everybody else."""
    async with join_live(served) as one, join_live(served, "read", name="bob") as other:
        await other.hear("pending")
        asked = await served.ask()
        seen = (await one.hear("approval"))["approval"]
        assert (await other.hear("approval"))["approval"]["id"] == asked.id
        await one.say(type="decide", id=seen["id"], nonce=seen["nonce"], option=1, key="k")
        decided = await one.hear("decided")
        told = (await other.hear("approval"))["approval"]
    assert (decided["key"], decided["approval"]["status"]) == ("k", "approved")
    assert (told["status"], told["decided_by"], told["decided_via"]) == ("approved", "ann", "api")


async def test_who_comes_second_is_refused_and_told_how_it_stands(served: World):
    """First writer wins; the loser is told."""
    asked = await served.ask()
    async with join_live(served) as client:
        await client.say(type="decide", id=asked.id, nonce=asked.nonce, option=0, key="first")
        await client.hear("decided")
        await client.say(type="decide", id=asked.id, nonce=asked.nonce, option=1, key="second")
        refused = await client.hear("refused")
    assert refused["error"]["code"] == "conflict"
    assert (refused["key"], refused["approval"]["status"]) == ("second", "denied")


async def test_a_viewer_cannot_decide(served: World):
    """The scope `read` is not the scope `decide`."""
    asked = await served.ask()
    async with join_live(served, "read") as client:
        await client.say(type="decide", id=asked.id, nonce=asked.nonce, option=1, key="k")
        assert (await client.hear("refused"))["error"]["code"] == "not_allowed"
    assert (await served.store.approvals.get(asked.id)).status == "pending"


async def test_a_token_that_was_revoked_decides_nothing_on_an_open_socket(served: World):
    """The credential is looked at for every decision, not only at the handshake."""
    asked = await served.ask()
    text, token = await served.store.access.add_token("ann", ["read", "decide"])
    async with connect_live(served, Authorization=f"Bearer {text}") as client:
        await client.say(type="hello")
        await client.hear("pending")
        await served.store.access.revoke_token(token.id)
        await client.say(type="decide", id=asked.id, nonce=asked.nonce, option=1, key="k")
        assert (await client.hear("refused"))["error"]["code"] == "not_allowed"
        await served.services.hub.check_credentials()
        assert await client.wait_closed() == 1008


async def test_revoking_a_token_closes_its_sockets_and_no_others(served: World):
    """At once, not at the next look."""
    text, token = await served.store.access.add_token("bob", ["read"])
    connecting = connect_live(served, Authorization=f"Bearer {text}")
    admin = await served.person()
    async with connecting as client, join_live(served) as other, admin:
        await client.say(type="hello")
        await client.hear("pending")
        await admin.post(f"/tokens/{token.id}/revocation")
        assert await client.wait_closed() == 1008
        asked = await served.ask()
        assert (await other.hear("approval"))["approval"]["id"] == asked.id


async def test_records_of_the_watched_session_come_from_where_the_client_was(served: World):
    """The client sends the last number it has seen, and gets what it missed."""
    await served.store.sessions.save(SessionEntry(id="s1", user="bot"))
    await served.store.sessions.save(SessionEntry(id="s2", user="bot"))
    records = [SessionRecord(number=number, time=1.0, type="dispatch") for number in range(1, 6)]
    await served.store.records.publish("s1", records[:3])
    async with join_live(served, session="s1", after=1) as client:
        missed = await client.hear("records")
        await served.store.records.publish("s2", records[:1])
        await served.store.records.publish("s1", records[3:])
        live = await client.hear("records")
        await client.say(type="watch", session="s2", after=0)
        other = await client.hear("records")
    assert [one["number"] for one in missed["records"]] == [2, 3]
    assert (live["session"], [one["number"] for one in live["records"]]) == ("s1", [4, 5])
    assert (other["session"], [one["number"] for one in other["records"]]) == ("s2", [1])


async def test_a_session_that_changes_is_told_to_everybody(served: World):
    """Sessions of all machines are seen in one place."""
    async with join_live(served) as client:
        await client.hear("pending")
        await served.store.sessions.save(SessionEntry(id="s1", user="bot", status="waiting"))
        assert (await client.hear("session"))["session"]["status"] == "waiting"


async def test_a_wrong_hello_ends_the_connection(served: World):
    """Closed schema, unknown fields refused."""
    token = await served.token("ann", "read")
    for message in (
        "not JSON",
        "{}",
        '{"type":"hello","extra":1}',
        '{"type":"watch","session":"s1"}',
        '{"type":"hello","after":-1}',
        '{"type":"hello","after":"1"}',
        "[" * 5000,
    ):
        async with connect_live(served, Authorization=f"Bearer {token}") as client:
            await client.connection.send(message)
            assert await client.wait_closed() == 1008, message


async def test_a_wrong_message_ends_the_connection(served: World):
    """Everything that is not in the schema, `decided_by` first of all."""
    for message in (
        '{"type":"decide","id":"x","nonce":"n","option":true,"key":"k"}',
        '{"type":"decide","id":"x","nonce":"n","option":1,"key":"k","decided_by":"ann"}',
        '{"type":"allow"}',
        '{"type":"hello"}',
        b"bytes",
    ):
        async with join_live(served) as client:
            await client.connection.send(message)
            assert await client.wait_closed() == 1008, message


async def test_who_says_nothing_is_sent_away(served: World, monkeypatch: pytest.MonkeyPatch):
    """First message within two seconds."""
    assert live_socket.HELLO_SECONDS == 2.0
    monkeypatch.setattr(live_socket, "HELLO_SECONDS", 0.05)
    token = await served.token("ann", "read")
    async with connect_live(served, Authorization=f"Bearer {token}") as client:
        assert await client.wait_closed() == 1008


async def test_a_message_over_64_kib_ends_the_connection(served: World):
    """Messages at most 64 KiB."""
    async with join_live(served) as client:
        await client.say(type="watch", session="s" * 70_000)
        assert await client.wait_closed() == 1009


async def test_a_browser_must_prove_in_its_hello_that_our_page_sends_it(served: World):
    """A cookie alone does not open a WebSocket."""
    browser = await served.browser()
    cookie = f"amplifier_login={browser.cookies['amplifier_login']}"
    for csrf, code in (("", 1008), ("0" * 64, 1008)):
        async with connect_live(served, Cookie=cookie, Origin=served.address) as client:
            await client.say(type="hello", csrf=csrf)
            assert await client.wait_closed() == code
    async with connect_live(served, Cookie=cookie, Origin=served.address) as client:
        await client.say(type="hello", csrf=browser.headers["X-Amplifier-CSRF"])
        assert (await client.hear("welcome"))["name"] == "ann"
    await browser.aclose()


async def test_an_agent_cannot_listen(served: World):
    """Agents see only their own; the socket shows everything."""
    token = await served.token("bot", "agent")
    with pytest.raises(InvalidStatus):
        async with connect_live(served, Authorization=f"Bearer {token}"):
            pass


async def test_a_slow_reader_is_cut_off_even_if_it_never_reads_again(
    served: World, monkeypatch: pytest.MonkeyPatch
):
    """Bounded send queue, slow readers are cut off."""
    monkeypatch.setattr(live_socket, "_CLOSE_SECONDS", 0.05)
    hub = served.services.hub
    reader, writer = await asyncio.open_connection("127.0.0.1", served.settings.port)
    token = await served.token("ann", "read")
    writer.write(
        f"GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1:{served.settings.port}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    # A masked text frame with the mask 0.
    hello = b'{"type":"hello"}'
    writer.write(bytes([0x81, 0x80 | len(hello)]) + bytes(4) + hello)
    await wait_until(lambda: len(hub._subscribers) == 1)
    await served.ask(tool_input={"text": "x" * 900_000})
    for _ in range(60):
        for _ in range(10):
            hub.tell(say(type="ping", filler="x" * 60_000))
        await asyncio.sleep(0)
    await wait_until(lambda: not hub._subscribers)
    writer.transport.abort()


async def test_there_is_a_limit_to_how_many_may_listen(served: World):
    """Beyond it, one is told to come later."""
    served.services.hub._most = 1
    async with join_live(served):
        token = await served.token("bob", "read")
        async with connect_live(served, Authorization=f"Bearer {token}") as client:
            await client.say(type="hello")
            assert await client.wait_closed() == 1013


async def test_hundreds_of_sockets_are_all_told(served: World):
    """5,000 clients in one process are told within a second: see benchmarks/bench_web.py."""
    async with AsyncExitStack() as stack:
        token = await served.token("ann", "read")
        clients = []
        for _ in range(200):
            connecting = connect_live(served, Authorization=f"Bearer {token}")
            client = await stack.enter_async_context(connecting)
            await client.say(type="hello")
            clients.append(client)
        for client in clients:
            await client.hear("pending")
        asked = await served.ask()
        told = [(await client.hear("approval"))["approval"]["id"] for client in clients]
    assert told == [asked.id] * 200


async def test_a_page_is_told_the_oldest_and_how_many_wait(served: World):
    """Not thousands of questions that nobody looks at; the next page of the list goes on there."""
    asked = [await served.ask() for _ in range(5)]
    async with join_live(served, window=2) as client:
        told = await client.hear("pending")
        assert [one["id"] for one in told["approvals"]] == [one.id for one in asked[:2]]
        assert told["waiting"] == 5
        async with await served.person() as person:
            query = {"status": "pending", "after": told["next"]}
            rest = (await person.get("/approvals", params=query)).json()
        assert [one["id"] for one in rest["approvals"]] == [one.id for one in asked[2:]]
        await served.store.approvals.withdraw(asked[4].id)
        assert (await client.hear("approval"))["approval"]["status"] == "cancelled"
        assert (await client.hear("waiting"))["count"] == 4
        new = await served.ask()
        assert (await client.hear("approval"))["approval"]["id"] == new.id
        assert (await client.hear("waiting"))["count"] == 5
    async with join_live(served, window=5) as client:
        told = await client.hear("pending")
        assert (len(told["approvals"]), told["waiting"], told["next"]) == (5, 5, "")


async def test_who_does_not_name_a_window_is_told_of_all_and_no_number(served: World):
    """As before there were windows."""
    asked = [await served.ask() for _ in range(3)]
    async with join_live(served) as client:
        told = await client.hear("pending")
        assert told.keys() == {"type", "approvals"}
        assert len(told["approvals"]) == 3
        await served.store.approvals.withdraw(asked[0].id)
        assert json.loads(await client.connection.recv())["type"] == "approval"
        await served.ask()
        assert json.loads(await client.connection.recv())["type"] == "approval"
