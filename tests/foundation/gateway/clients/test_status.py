"""Which servers are guarded, and why others are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation.gateway.clients.entry import Wish
from amplifier_foundation.gateway.clients.installation import list_files, put_before
from amplifier_foundation.gateway.clients.line import Gateway, make_gateway
from amplifier_foundation.gateway.clients.status import read_client
from amplifier_foundation.guests.installing.record import open_mcp_records


def _write(home: Path, **servers: Any) -> None:
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def _guard(home: Path, gateway: Gateway) -> None:
    for places in list_files("claude", home):
        put_before("claude", places, Wish(gateway), open_mcp_records())


@pytest.mark.parametrize(
    ("entry", "state", "stands"),
    [
        ({"command": "x"}, "not guarded", False),
        ({"command": "amplifier", "args": ["mcp", "gateway", "--", "x"]}, "guarded", True),
        ({"type": "sse", "url": "https://x/"}, "cannot be guarded", False),
        ({"url": "https://x.test/mcp"}, "cannot be guarded", False),
        ("nonsense", "cannot be guarded", False),
        ({"command": "x", "disabled": True}, "disabled", True),
        ({"url": "https://x.test/mcp", "enabled": False}, "disabled", True),
    ],
)
def test_each_server_has_a_state(home: Path, entry: Any, state: str, stands: bool) -> None:
    """One that is switched off needs no guard."""
    _write(home, s=entry)
    status = read_client("claude", home)
    (server,) = status.servers
    assert (server.name, server.scope, server.state) == ("s", "project", state)
    assert server.path == home / ".mcp.json"
    assert server.stands is status.stands is stands


def test_a_server_is_guarded_after_it_was_put_behind_the_gateway(home: Path) -> None:
    """Also one that is switched off: it may be switched on again."""
    _write(home, s={"command": "x"}, t={"command": "y", "disabled": True})
    _guard(home, make_gateway(None))
    status = read_client("claude", home)
    assert [one.state for one in status.servers] == ["guarded", "guarded"]
    assert status.stands


@pytest.mark.parametrize(
    ("gateway", "what"),
    [
        (Gateway(Path("/nowhere/python")), "interpreter /nowhere/python is not there"),
        (Gateway(Path("/bin/sh")), "another installation of amplifier"),
        (make_gateway(Path("/nowhere/b.yaml")), "bundle /nowhere/b.yaml is not there"),
    ],
)
def test_a_gateway_that_cannot_start_does_not_stand(
    home: Path, gateway: Gateway, what: str
) -> None:
    """With what is missing."""
    _write(home, s={"command": "x"})
    _guard(home, gateway)
    (server,) = read_client("claude", home).servers
    assert what in server.detail
    assert not server.stands


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_gateway_that_would_find_other_rules_does_not_stand(home: Path, by_hand: bool) -> None:
    """A file that came with a project may only look as if it were guarded."""
    command, *args = make_gateway(None).build("s", {"stdio": ""}, ["--", "x"])
    own = {"command": "amplifier", "args": ["mcp", "gateway", "--", "x"]}
    entry = own if by_hand else {"command": command, "args": args}
    _write(home, s={**entry, "env": {"HOME": "/tmp/theirs"}})
    (server,) = read_client("claude", home).servers
    assert "sets HOME" in server.detail
    assert not server.stands


def test_a_file_that_cannot_be_read_is_a_problem(home: Path) -> None:
    """The client may read it after all."""
    (home / ".mcp.json").write_text("{")
    status = read_client("claude", home)
    assert len(status.problems) == 1
    assert not status.stands


def test_servers_of_extensions_are_shown(home: Path) -> None:
    """Nobody can say afterwards that all were guarded."""
    path = home / ".gemini/extensions/x/gemini-extension.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {"s": {"command": "x"}}}')
    (server,) = read_client("gemini", home).servers
    assert server.state == "cannot be guarded"
    assert "belongs to the extension 'x'" in server.detail


def test_a_client_without_servers_has_nothing_to_guard(home: Path) -> None:
    """Its program is found if it is there."""
    program = home / "bin" / "cursor-agent"
    program.touch(0o755)
    status = read_client("cursor", home)
    assert (status.servers, status.stands, status.program) == ((), True, str(program))
