"""Random entries in the form of every client: what is put before them can be taken out again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.client_files import CLIENTS
from amplifier_hooks.mcp.gateway.clients.dialects import DIALECTS
from amplifier_hooks.mcp.gateway.clients.entry import Unbridgeable, Wish, find_line
from amplifier_hooks.mcp.gateway.clients.line import Gateway

NAMED = Wish(Gateway(Path("/opt/python"), Path("/b.yaml")), frozenset({"open"}), Path("/p"))

TEXT = st.text(max_size=6) | st.sampled_from(["TOKEN", "KEY"])
NAMES = st.sampled_from(["A", "X-Key", "Authorization"])
TABLES = st.dictionaries(NAMES, TEXT, max_size=2)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), TEXT, st.lists(TEXT, max_size=2))
KEYS: dict[str, st.SearchStrategy[Any]] = {
    "command": TEXT,
    "args": st.lists(TEXT, max_size=3) | PLAIN,
    "env": TABLES | PLAIN,
    "url": st.sampled_from(["https://x.test/mcp", "http://127.0.0.1/mcp", "https://x.test/sse"]),
    "httpUrl": st.just("https://x.test/mcp"),
    "headers": TABLES | PLAIN,
    "type": st.sampled_from(["stdio", "http", "sse", 1]),
    "bearer_token_env_var": TEXT,
    "http_headers": TABLES,
    "env_http_headers": TABLES,
    "env_vars": st.lists(TEXT, max_size=2),
    "tcp": PLAIN,
    "cwd": TEXT,
    "timeout": PLAIN,
    "unknown": PLAIN,
}
ENTRIES = st.fixed_dictionaries({}, optional=KEYS)


def test_every_client_has_a_dialect() -> None:
    """That a person can name."""
    assert set(DIALECTS) == set(CLIENTS)


@pytest.mark.parametrize("client", DIALECTS)
def test_a_server_is_off_only_where_the_client_is_known_to_leave_it_off(client: str) -> None:
    """Codex has such a key; the others start a server that calls itself disabled."""
    assert DIALECTS[client].is_off({"enabled": False}) is (client == "codex")
    for entry in (
        {"disabled": True},
        {"enabled": 0},
        {"enabled": "false"},
        {"": False},
        {},
        "enabled",
    ):
        assert not DIALECTS[client].is_off(entry)


@pytest.mark.parametrize("client", DIALECTS)
@settings(max_examples=30)
@given(entry=ENTRIES, name=st.sampled_from(["open", "s"]))
def test_what_is_put_before_a_server_can_be_taken_out(
    client: str, entry: dict[str, Any], name: str
) -> None:
    """The entry is as it was, no key is lost meanwhile, and a second time changes nothing."""
    dialect = DIALECTS[client]
    assert dialect.unwrap(entry) == entry
    try:
        wrapped = dialect.wrap(name, entry, NAMED)
    except Unbridgeable:
        return
    assert find_line(wrapped) is not None
    assert dialect.unwrap(wrapped) == entry
    assert dialect.wrap(name, wrapped, NAMED) == wrapped
    for key in ("timeout", "unknown", "cwd"):
        assert wrapped.get(key) == entry.get(key)
