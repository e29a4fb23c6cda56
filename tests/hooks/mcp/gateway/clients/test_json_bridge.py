"""Servers with an address in JSON, as a command, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.mcp.gateway.clients.dialects import DIALECTS
from amplifier_hooks.mcp.gateway.clients.entry import Unbridgeable, Wish, find_line
from amplifier_hooks.mcp.gateway.clients.line import Gateway

WISH = Wish(Gateway(Path("/opt/python")), frozenset({"open"}))
URL = "https://x.test/mcp"
HEADERS = {"Authorization": "Bearer ${input:token}", "X-B": "2"}
IN_JSON = [one for one in DIALECTS if one != "codex"]


@pytest.mark.parametrize(
    "entry",
    [
        {"url": URL, "headers": HEADERS},
        {"type": "http", "url": URL, "headers": HEADERS, "timeout": 9},
        {"type": "streamable-http", "url": URL, "headers": HEADERS, "env": {}},
        {"headers": {"A": "b"}, "env": {"C": "d"}, "url": URL, "disabled": True},
        {"url": "http://127.0.0.1:1/mcp"},
        {"url": "http://127.0.0.1:1/mcp", "headers": {}},
    ],
)
@pytest.mark.parametrize("client", IN_JSON)
def test_an_address_comes_back_as_it_was(client: str, entry: dict[str, Any]) -> None:
    """Everything else stays, and neither it nor the value of a header is in the command."""
    dialect = DIALECTS[client]
    wrapped = dialect.wrap("s", entry, WISH)
    assert not {"url", "headers"} & set(wrapped)
    line = find_line(wrapped)
    assert line is not None
    assert wrapped["env"][line.variable] == entry["url"]
    values = {entry["url"], *entry.get("headers", {}).values()}
    assert not values & set(wrapped["args"])
    assert values <= set(wrapped.get("env", {}).values())
    assert dialect.wrap("s", wrapped, WISH) == wrapped
    assert dialect.unwrap(wrapped) == entry


def test_the_type_of_what_is_a_command_now_is_said_or_left_out() -> None:
    """Gemini CLI knows no such type."""
    entry = {"type": "http", "url": URL, "headers": HEADERS}
    assert DIALECTS["claude"].wrap("s", entry, WISH)["type"] == "stdio"
    assert "type" not in DIALECTS["gemini"].wrap("s", entry, WISH)


def test_gemini_has_another_name_for_the_address() -> None:
    """And gets it back."""
    entry = {"httpUrl": URL, "headers": HEADERS, "trust": True}
    gemini = DIALECTS["gemini"]
    wrapped = gemini.wrap("s", entry, WISH)
    assert "httpUrl" not in wrapped
    assert gemini.unwrap(wrapped) == entry


def test_what_others_add_to_a_guarded_entry_stays() -> None:
    """Also in its environment."""
    wrapped = DIALECTS["claude"].wrap("s", {"url": URL, "headers": {"A": "b"}}, WISH)
    changed = {**wrapped, "note": 1, "env": {**wrapped["env"], "MINE": "1"}}
    assert DIALECTS["claude"].unwrap(changed) == {
        "url": URL,
        "headers": {"A": "b"},
        "note": 1,
        "env": {"MINE": "1"},
    }


def test_an_open_server_is_named_by_the_person() -> None:
    """No other is reached without headers."""
    claude = DIALECTS["claude"]
    assert find_line(claude.wrap("open", {"url": URL}, WISH)) is not None
    with pytest.raises(Unbridgeable, match="--open"):
        claude.wrap("other", {"url": URL}, WISH)


@pytest.mark.parametrize(
    ("client", "entry", "why"),
    [
        ("claude", {"type": "sse", "url": URL, "headers": HEADERS}, "old transport"),
        ("claude", {"type": "ws", "url": URL, "headers": HEADERS}, "'ws' is new to us"),
        ("claude", {"url": URL, "headersHelper": "x"}, "program of its own"),
        ("claude", {"url": URL, "headers": HEADERS, "args": []}, "beside it"),
        ("gemini", {"url": URL, "httpUrl": URL, "headers": HEADERS}, "beside it"),
        ("gemini", {"url": URL, "headers": HEADERS, "tcp": "x:1"}, "another address .'tcp'"),
        ("gemini", {"command": "x", "extension": {"resolvedSettings": []}}, "of an extension"),
        ("gemini", {"url": URL, "authProviderType": "google_credentials"}, "logs in"),
        ("cursor", {"url": URL, "auth": {"CLIENT_ID": "x"}}, "logs in"),
        ("vscode", {"command": "x", "sandboxEnabled": True}, "sandbox"),
    ],
)
def test_what_the_gateway_cannot_do_for_a_client_is_refused(
    client: str, entry: dict[str, Any], why: str
) -> None:
    """With the reason."""
    with pytest.raises(Unbridgeable, match=why):
        DIALECTS[client].wrap("s", entry, WISH)
