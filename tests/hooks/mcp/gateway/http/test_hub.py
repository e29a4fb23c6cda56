"""All clients that are connected, and the relay behind each."""

from __future__ import annotations

import asyncio
import logging

import pytest

from amplifier_hooks.guards.mcp.frames import write_frame
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http import hub as hub_module
from amplifier_hooks.mcp.gateway.http.guard import ListenSettings
from amplifier_hooks.mcp.gateway.http.hub import Hub
from tests.hooks.mcp.gateway.http.asgi import Relay
from tests.support.waiting import wait_until

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
    await waiting.take([REQUEST], takes_events=True)
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
        reply = await session.take([REQUEST], takes_events=True)
        await asyncio.wait_for(reply.wait_for_end(), 30)
    assert reason.encode() in (reply.take() or b"")
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
