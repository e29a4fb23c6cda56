"""Letting clients connect by streamable HTTP, with the SDK's own client and server."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.guards.mcp.frames import read_frames
from amplifier_hooks.mcp.gateway.channel import Channel, ChannelError
from amplifier_hooks.mcp.gateway.http import HttpServer, ListenSettings, listen
from amplifier_hooks.mcp.gateway.http.incoming import listening as listening_module
from amplifier_hooks.mcp.gateway.http.incoming.hub import Serve
from tests.hooks.mcp.gateway.http.incoming.asgi import Relay, run_listening
from tests.support.waiting import wait_until


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
