"""The gateway as a program runs it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.external.conversation import ExternalContext
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.mcp.gateway import gateway
from amplifier_hooks.mcp.gateway.channel import Channel, ChannelError
from amplifier_hooks.mcp.gateway.gateway import (
    CannotJudge,
    Settings,
    guess_name,
    identify_server,
    run_gateway,
)
from amplifier_hooks.mcp.gateway.judging import GatewaySession
from tests.support.gateway import BareSession, say
from tests.support.mcp.relaying import Line


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem .", "server-filesystem"),
        ("npx -y @scope/server-files@2.1 .", "server-files"),
        ("uvx mcp-server-time", "mcp-server-time"),
        ("uv run server.py", "server"),
        ("/usr/bin/python3.12 -m my_server", "my_server"),
        ("node dist/index.js --port 1", "index"),
        ("/opt/tools/files/", "files"),
        ("./server", "server"),
        ("npx", "npx"),
    ],
)
def test_a_server_is_called_like_the_program_that_is_run(command: str, name: str) -> None:
    """Not like what runs it."""
    assert guess_name(None, command.split()) == name


def test_a_server_elsewhere_is_called_like_its_host() -> None:
    """Dots are not for names of tools."""
    assert guess_name("https://mcp.example.com/x", []) == "mcp-example-com"
    assert guess_name("nonsense", []) == "server"


def test_a_server_of_a_project_is_another_one_elsewhere(tmp_path: Path) -> None:
    """One that is installed is the same everywhere, and so is an address."""
    (tmp_path / "server.py").touch()
    command = ["python", "server.py"]
    assert identify_server(None, command, tmp_path) == [*command, str(tmp_path)]
    assert identify_server(None, command, tmp_path / "other") == command
    assert identify_server(None, ["/usr/bin/env", "srv"], tmp_path) == ["/usr/bin/env", "srv"]
    assert identify_server("https://example.com/mcp", [], tmp_path) == ["https://example.com/mcp"]


def test_a_key_in_an_address_is_not_kept(tmp_path: Path) -> None:
    """Another key is another server; people read the rest in lists."""
    urls = [
        *("https://h/mcp", "https://h/mcp?key=s3cret", "https://h/mcp?key=other"),
        *("https://u:s3cret@h/mcp", "https://h/mcp#s3cret", "https://[s3cret"),
    ]
    found = [identify_server(url, [], tmp_path) for url in urls]
    assert len({tuple(one) for one in found}) == len(urls)
    assert "s3cret" not in str(found)
    assert all(one[0].startswith("https://h/mcp") for one in found[:-1])
    assert found[1] == identify_server(urls[1], [], tmp_path)


class ClosedLine(Line):
    """Knows whether it was closed."""

    @property
    def is_closed(self) -> bool:
        return self._closed


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> BareSession:
    """The session that the gateway opens."""
    context = ExternalContext()
    bare = BareSession(TestCoordinator(context=context))

    async def open_session(folder: Path, bundle: str, say: Any) -> GatewaySession:
        external = ExternalSession(bare.coordinator, context, bare.cleanup, program="mcp")
        return GatewaySession(external, bare)  # type: ignore[arg-type]

    monkeypatch.setattr(gateway, "open_gateway_session", open_session)
    return bare


def make_settings(tmp_path: Path) -> Settings:
    return Settings("srv", ["server"], tmp_path)


async def test_a_connection_lasts_until_one_end_goes(
    tmp_path: Path, session: BareSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the other end is closed, and the session ended."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    client, server = ClosedLine(), ClosedLine()

    async def connect() -> Channel:
        return server

    running = asyncio.create_task(
        run_gateway(client, connect, make_settings(tmp_path), lambda text: None)
    )
    client.put({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}})
    await server.wait_for(1)
    server.put({"jsonrpc": "2.0", "id": 1, "result": say("hello")})
    await client.wait_for(1)
    client.put(None)
    assert await asyncio.wait_for(running, 30) == "client"
    assert (client.is_closed, server.is_closed, session.ended) == (True, True, "complete")


async def test_a_client_is_told_why_there_is_no_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is passed on, and no server is started."""

    async def refuse(*_: Any) -> GatewaySession:
        raise Untrusted("nobody has trusted this")

    monkeypatch.setattr(gateway, "open_gateway_session", refuse)
    client, started = ClosedLine(), []

    async def connect() -> Channel:
        started.append(True)
        return ClosedLine()

    client.put({"jsonrpc": "2.0", "method": "notifications/x"})
    client.put({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}})
    with pytest.raises(CannotJudge, match="nobody has trusted"):
        await run_gateway(client, connect, make_settings(tmp_path), lambda text: None)
    assert client.read()[0]["error"]["message"] == "amplifier: nobody has trusted this"
    assert not started


async def test_a_client_is_told_why_there_is_no_server(
    tmp_path: Path, session: BareSession
) -> None:
    """The session ends with an error."""
    client = ClosedLine()

    async def connect() -> Channel:
        raise ChannelError("the server 'x' cannot be started")

    client.put({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}})
    with pytest.raises(ChannelError, match="cannot be started"):
        await run_gateway(client, connect, make_settings(tmp_path), lambda text: None)
    assert "cannot be started" in client.read()[0]["error"]["message"]
    assert session.ended == "error"


async def test_a_gateway_that_is_stopped_closes_both_ends(
    tmp_path: Path, session: BareSession
) -> None:
    """Also in the middle of a call."""
    client, server = ClosedLine(), ClosedLine()

    async def connect() -> Channel:
        return server

    running = asyncio.create_task(
        run_gateway(client, connect, make_settings(tmp_path), lambda text: None)
    )
    client.put({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}})
    await server.wait_for(1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (client.is_closed, server.is_closed, session.ended) == (True, True, "complete")
