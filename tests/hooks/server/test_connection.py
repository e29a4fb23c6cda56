"""Connections that are given up."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import pytest
from websockets.exceptions import InvalidStatus

from amplifier_hooks.http_guard import server as server_module
from amplifier_hooks.server.server import AbortableWebSocket
from tests.hooks.server.live_client import connect_live, join_live
from tests.hooks.server.world import World


async def test_the_app_can_end_a_connection_at_once(served: World):
    """Without a goodbye, for those who would not read it."""
    async with join_live(served) as client:
        await client.hear("pending")
        (connection,) = [
            one
            for one in served.server.server_state.connections
            if isinstance(one, AbortableWebSocket)
        ]
        connection.scope["state"]["abort"]()
        assert await client.wait_closed() == 1006


async def test_a_refused_handshake_is_no_error_of_the_app(
    served: World, caplog: pytest.LogCaptureFixture
):
    """Whoever knocks at the door does not fill the log."""
    with caplog.at_level(logging.WARNING), pytest.raises(InvalidStatus) as refused:
        async with connect_live(served):
            pass
    assert refused.value.response.status_code == 401
    assert caplog.records == []


HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: a\r\n"])
@pytest.mark.parametrize("earlier", [0, 1])
async def test_a_request_that_never_comes_is_not_waited_for(
    served: World, monkeypatch: pytest.MonkeyPatch, begun: bytes, earlier: int
):
    """Neither at the beginning, nor after one that was answered."""
    monkeypatch.setattr(server_module, "HEAD_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", served.settings.port)
    for _ in range(earlier):
        writer.write(HEAD % served.settings.port + b"\r\n")
        assert b"200 OK" in await reader.readuntil(b"}")
    if earlier and not begun:
        writer.write(b"G")
    writer.write(begun)
    async with asyncio.timeout(20):
        with contextlib.suppress(ConnectionResetError):
            answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 408") if begun or earlier else answer == b""
    writer.close()
    with contextlib.suppress(ConnectionResetError):
        await writer.wait_closed()


async def test_who_waits_for_an_answer_is_not_given_up(
    served: World, monkeypatch: pytest.MonkeyPatch
):
    """A long poll or a live connection takes as long as it takes."""
    monkeypatch.setattr(server_module, "HEAD_SECONDS", 0.1)
    asked = await served.ask()
    async with await served.person() as person, join_live(served) as client:
        await client.hear("pending")
        answer = await person.get(f"/approvals/{asked.id}", params={"wait": 0.5})
        assert answer.json()["status"] == "pending"
        await served.store.approvals.withdraw(asked.id)
        assert (await client.hear("approval"))["approval"]["status"] == "cancelled"
