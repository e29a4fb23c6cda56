"""Codex's servers with an address, as a command, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.mcp.gateway.clients.dialects import DIALECTS
from amplifier_hooks.mcp.gateway.clients.entry import Unbridgeable, Wish, find_line
from amplifier_hooks.mcp.gateway.clients.line import Gateway

WISH = Wish(Gateway(Path("/opt/python")))
CODEX = DIALECTS["codex"]
URL = "https://x.test/mcp"


@pytest.mark.parametrize(
    "entry",
    [
        {"url": URL, "bearer_token_env_var": "TOKEN", "startup_timeout_sec": 3.0},
        {"url": URL, "env_http_headers": {"X-Key": "KEY"}, "enabled": False},
        {"url": URL, "http_headers": {"X-Region": "eu"}, "enabled_tools": ["a"]},
        {
            "http_headers": {"A": "1", "B": "2"},
            "env_http_headers": {"C": "D", "E": "D"},
            "bearer_token_env_var": "T",
            "url": URL,
        },
        {"url": "http://127.0.0.1:1/mcp", "http_headers": {}, "env_http_headers": {}},
    ],
)
def test_an_address_comes_back_as_it_was(entry: dict[str, Any]) -> None:
    """What Codex refuses beside a command is gone meanwhile."""
    wrapped = CODEX.wrap("s", entry, WISH)
    gone = {"url", "bearer_token_env_var", "http_headers", "env_http_headers"}
    assert not gone & set(wrapped)
    assert CODEX.wrap("s", wrapped, WISH) == wrapped
    assert CODEX.unwrap(wrapped) == entry


def test_variables_with_secrets_are_handed_on_by_name() -> None:
    """Codex gives its servers no others."""
    entry = {"url": URL, "bearer_token_env_var": "TOKEN", "env_http_headers": {"X-Key": "KEY"}}
    wrapped = CODEX.wrap("s", entry, WISH)
    assert wrapped["env_vars"][:2] == ["KEY", "TOKEN"]
    line = find_line(wrapped)
    assert line is not None
    assert line.headers == (("X-Key", "KEY"), ("Authorization", "Bearer TOKEN"))
    assert wrapped["env"] == {line.variable: URL}


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"url": URL}, "no headers"),
        ({"url": URL, "http_headers": {"A": "b"}, "env": {}}, "belongs to a command"),
        ({"url": URL, "env_http_headers": "A"}, "not a table"),
        ({"url": URL, "env_http_headers": {"A": 1}}, "not a text"),
        ({"url": URL, "env_http_headers": {"A": "B C"}}, "no name for a variable"),
        ({"url": URL, "bearer_token_env_var": "B C"}, "no name for a variable"),
        ({"url": URL, "http_headers": {"A": "b"}, "scopes": ["x"]}, "logs in"),
        ({"url": URL, "http_headers_helper": "x"}, "program of its own"),
    ],
)
def test_what_the_gateway_cannot_do_for_codex_is_refused(entry: dict[str, Any], why: str) -> None:
    """With the reason."""
    with pytest.raises(Unbridgeable, match=why):
        CODEX.wrap("s", entry, WISH)
