"""One server in the settings of a client, with and without the gateway."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.client_files import CLIENTS
from amplifier_hooks.mcp.clients import entries
from amplifier_hooks.mcp.clients.command_line import Gateway, Line, make_gateway
from amplifier_hooks.mcp.clients.entries import (
    DIALECTS,
    GatewayOptions,
    Unbridgeable,
    check_server,
    check_text,
    find_line,
    find_own_line,
    hide_address,
    is_hidden,
    reveal_address,
)

WISH = GatewayOptions(Gateway(Path("/opt/python")))
CLAUDE, CODEX = DIALECTS["claude"], DIALECTS["codex"]


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx"},
        {"command": "npx", "args": []},
        {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "${B}"}, "cwd": "/"},
        {"command": "x", "args": ["--"], "timeout": 5, "trust": True, "alwaysAllow": ["a"]},
    ],
)
@pytest.mark.parametrize("client", DIALECTS)
def test_a_command_comes_back_as_it_was(client: str, entry: dict[str, Any]) -> None:
    """Everything beside the command stays, and doing it twice is doing it once."""
    dialect = DIALECTS[client]
    wrapped = dialect.wrap("s", entry, WISH)
    line = find_line(wrapped)
    assert line is not None
    assert line.server == (entry["command"], *entry.get("args", []))
    changed = {"command", "args", "env_vars"}
    assert {key: wrapped[key] for key in wrapped if key not in changed} == {
        key: entry[key] for key in entry if key not in changed
    }
    assert dialect.wrap("s", wrapped, WISH) == wrapped
    assert dialect.unwrap(wrapped) == entry


def test_another_bundle_takes_the_place_of_the_first() -> None:
    """There is never a gateway before a gateway."""
    wrapped = CLAUDE.wrap("s", {"command": "npx"}, WISH)
    other = GatewayOptions(Gateway(Path("/opt/python"), Path("/b.yaml")))
    again = CLAUDE.wrap("s", wrapped, other)
    line = find_line(again)
    assert line is not None
    assert (line.bundle, line.server) == (Path("/b.yaml"), ("npx",))
    assert CLAUDE.unwrap(again) == {"command": "npx"}


def test_a_gateway_of_the_person_stays() -> None:
    """It is guarded already, and not ours to take out."""
    program = str(Path(sys.executable).with_name("amplifier"))
    own = {"command": program, "args": ["mcp", "gateway", "--", "npx"]}
    assert find_own_line(own) is not None
    assert CLAUDE.wrap("s", own, WISH) == own
    assert CLAUDE.unwrap(own) == own


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("npx", "not an object"),
        ({}, "neither a command nor an address"),
        ({"command": "x", "url": "http://x"}, "both a command and an address"),
        ({"command": ""}, "empty"),
        ({"command": 1}, "not a text"),
        ({"command": "x", "args": "y"}, "not a list"),
        ({"command": "x", "args": [1]}, "not a text"),
        ({"command": "x", "args": ["\ud800"]}, "no command can carry"),
        ({"command": "x", "args": ["\0"]}, "no command can carry"),
        ({"command": "x", "env": {"HOME": "/x"}}, "has HOME"),
        ({"command": "x", "env": {"AMPLIFIER_STORE": "/x"}}, "has AMPLIFIER_STORE"),
        ({"command": "x", "envFile": "/x"}, "from a file .envFile"),
        ({"command": "x", "tcp": "h:1"}, "both a command and an address"),
        ({"command": "x", "type": "http"}, "both a command and an address"),
        ({"command": "x", "oauth": {"clientId": "a"}}, "logs in by itself"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(entry: Any, why: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(Unbridgeable, match=why):
        CLAUDE.wrap("s", entry, WISH)
    assert CLAUDE.unwrap(entry) == entry


def test_variables_that_the_gateway_needs_are_named_where_that_is_needed() -> None:
    """Behind those of the person, which come back alone."""
    own = {"command": "x", "env_vars": ["MINE", {"name": "XDG_DATA_HOME", "source": "local"}]}
    wrapped = CODEX.wrap("s", own, WISH)
    names = wrapped["env_vars"]
    assert names[:2] == own["env_vars"]
    assert "XDG_DATA_HOME" not in names
    assert "XDG_CONFIG_HOME" in names
    assert CODEX.unwrap(wrapped) == own
    empty = {"command": "x", "env_vars": list[str]()}
    assert CODEX.unwrap(CODEX.wrap("s", empty, WISH)) == empty
    with pytest.raises(Unbridgeable, match="env_vars"):
        CODEX.wrap("s", {"command": "x", "env_vars": "A"}, WISH)


@pytest.mark.parametrize(
    "beside",
    [
        *({"url": "https://x"}, {"serverUrl": "x"}, {"httpUrl": "x"}, {"tcp": "x:1"}, {"url": ""}),
        *({"type": "http"}, {"type": "sse"}, {"type": "ws"}, {"type": ["stdio"]}),
    ],
)
def test_a_command_beside_which_an_address_stands_is_no_gateway(beside: dict[str, Any]) -> None:
    """Clients take the address, and start no command."""
    for gateway in (Gateway(Path("/opt/python")), make_gateway(None)):
        command, *args = gateway.build("s", {"stdio": ""}, ["--", "x"])
        entry = {"command": command, "args": args, **beside}
        assert find_line(entry) is None
        assert find_own_line(entry) is None
        with pytest.raises(Unbridgeable, match="both a command and an address"):
            DIALECTS["gemini"].wrap("s", entry, WISH)


def test_a_folder_of_its_own_is_not_the_one_whose_rules_judge() -> None:
    """A file that came with a project could lead to a folder with other rules."""
    wish = replace(WISH, folder=Path("/project"))
    entry = {"command": "x", "cwd": "/elsewhere"}
    wrapped = CLAUDE.wrap("s", entry, wish)
    line = find_line(wrapped)
    assert line is not None
    assert (line.folder, line.server, wrapped["cwd"]) == (Path("/project"), ("x",), "/elsewhere")
    assert CLAUDE.unwrap(wrapped) == entry
    assert "--folder" not in CLAUDE.wrap("s", {"command": "x"}, wish)["args"]


def test_an_address_that_is_gone_from_the_environment_cannot_come_back() -> None:
    """Then nothing is made of the entry, so that nothing is lost."""
    wrapped = CLAUDE.wrap("s", {"url": "http://127.0.0.1/mcp"}, WISH)
    assert find_line(wrapped) is not None
    for env in ({}, None, {"AMPLIFIER_MCP_URL": 1}):
        assert CLAUDE.unwrap({**wrapped, "env": env}) == {**wrapped, "env": env}


def test_a_text_is_returned_as_it_is() -> None:
    """If a command can carry it."""
    assert check_text("é \n", "it") == "é \n"


@pytest.mark.parametrize(
    ("url", "headers", "is_open"),
    [
        ("https://x.test/mcp", ["Authorization"], False),
        ("https://x.test/mcp", [], True),
        ("http://127.0.0.1:8000/mcp", [], False),
        ("http://localhost/mcp", ["X-Key"], False),
        ("http://[::1]/mcp", [], False),
        ("${URL}", ["X-Key"], False),
        ("https://x.test/${PATH}/mcp", ["X-Key"], False),
    ],
)
def test_a_server_with_a_way_in_can_be_reached(url: str, headers: list[str], is_open: bool) -> None:
    """With headers, on this machine, or if a person says so."""
    assert check_server(url, headers, is_open=is_open) == url


@pytest.mark.parametrize(
    ("url", "headers", "why"),
    [
        ("https://x.test/mcp", [], "no headers.*OAuth.*--open"),
        ("https://x.test/sse/", ["A"], "old transport"),
        ("ftp://x.test/", ["A"], "cannot send"),
        ("http://x.test/mcp", ["A"], "cannot send"),
        ("https://u:p@x.test/mcp", ["A"], "cannot send"),
        ("https://x.test/mcp", ["a b"], "cannot send"),
        ("https://[x/mcp", ["A"], "cannot be read"),
        (7, ["A"], "not a text"),
    ],
)
def test_a_server_that_the_gateway_could_not_reach_is_refused(
    url: object, headers: list[str], why: str
) -> None:
    """Before the client finds out."""
    with pytest.raises(Unbridgeable, match=why):
        check_server(url, headers, is_open=False)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway would not start."""
    monkeypatch.setattr(entries, "find_spec", lambda name: None)
    with pytest.raises(Unbridgeable, match=r"'httpx2' to reach it: .*\[mcp\]"):
        check_server("https://x.test/mcp", ["A"], is_open=False)


def test_an_address_and_the_values_of_headers_are_in_the_environment_only() -> None:
    """Nobody reads them in the list of processes, and the client still fills in its variables."""
    url, headers = "https://x.test/k3y/mcp?key=s3cret", {"Authorization": "Bearer ${T}", "X": "k"}
    env, words = hide_address(url, headers, {"A": "b"})
    assert env["A"] == "b"
    assert {url, "Bearer ${T}", "k"} <= set(env.values())
    assert not any("k3y" in one or "s3cret" in one or "Bearer" in one for one in words)
    pairs = tuple((*one.split("="),) for one in words[3::2])
    assert all(is_hidden(variable) for _, variable in pairs)
    line = Line("p", {}, None, variable=words[1], headers=pairs)  # type: ignore[arg-type]
    assert reveal_address(env, line) == (url, headers, {"A": "b"})


def test_an_address_of_an_older_command_is_read_from_it() -> None:
    """It stood on the command line once."""
    line = Line("p", {}, None, url="https://x.test/mcp")
    assert reveal_address({"A": "b"}, line) == ("https://x.test/mcp", {}, {"A": "b"})


@pytest.mark.parametrize(
    ("headers", "env"),
    [
        (None, {}),
        ({}, "x"),
        ({"A": 1}, {}),
        ({"A": ""}, {}),
        ({"A": "b"}, {"AMPLIFIER_MCP_HEADER_1": "mine"}),
        ({}, {"AMPLIFIER_MCP_URL": "mine"}),
    ],
)
def test_headers_that_cannot_be_hidden_are_refused(headers: object, env: object) -> None:
    """Also where a variable of ours is there already."""
    with pytest.raises(Unbridgeable):
        hide_address("https://x.test/mcp", headers, env)


JSON_BRIDGE_WISH = GatewayOptions(Gateway(Path("/opt/python")), frozenset({"open"}))
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
    wrapped = dialect.wrap("s", entry, JSON_BRIDGE_WISH)
    assert not {"url", "headers"} & set(wrapped)
    line = find_line(wrapped)
    assert line is not None
    assert wrapped["env"][line.variable] == entry["url"]
    values = {entry["url"], *entry.get("headers", {}).values()}
    assert not values & set(wrapped["args"])
    assert values <= set(wrapped.get("env", {}).values())
    assert dialect.wrap("s", wrapped, JSON_BRIDGE_WISH) == wrapped
    assert dialect.unwrap(wrapped) == entry


def test_the_type_of_what_is_a_command_now_is_said_or_left_out() -> None:
    """Gemini CLI knows no such type."""
    entry = {"type": "http", "url": URL, "headers": HEADERS}
    assert DIALECTS["claude"].wrap("s", entry, JSON_BRIDGE_WISH)["type"] == "stdio"
    assert "type" not in DIALECTS["gemini"].wrap("s", entry, JSON_BRIDGE_WISH)


def test_gemini_has_another_name_for_the_address() -> None:
    """And gets it back."""
    entry = {"httpUrl": URL, "headers": HEADERS, "trust": True}
    gemini = DIALECTS["gemini"]
    wrapped = gemini.wrap("s", entry, JSON_BRIDGE_WISH)
    assert "httpUrl" not in wrapped
    assert gemini.unwrap(wrapped) == entry


def test_what_others_add_to_a_guarded_entry_stays() -> None:
    """Also in its environment."""
    wrapped = DIALECTS["claude"].wrap("s", {"url": URL, "headers": {"A": "b"}}, JSON_BRIDGE_WISH)
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
    assert find_line(claude.wrap("open", {"url": URL}, JSON_BRIDGE_WISH)) is not None
    with pytest.raises(Unbridgeable, match="--open"):
        claude.wrap("other", {"url": URL}, JSON_BRIDGE_WISH)


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
        DIALECTS[client].wrap("s", entry, JSON_BRIDGE_WISH)


CODEX_BRIDGE_CODEX = DIALECTS["codex"]


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
def test_codex_bridge_an_address_comes_back_as_it_was(entry: dict[str, Any]) -> None:
    """What Codex refuses beside a command is gone meanwhile."""
    wrapped = CODEX_BRIDGE_CODEX.wrap("s", entry, WISH)
    gone = {"url", "bearer_token_env_var", "http_headers", "env_http_headers"}
    assert not gone & set(wrapped)
    assert CODEX_BRIDGE_CODEX.wrap("s", wrapped, WISH) == wrapped
    assert CODEX_BRIDGE_CODEX.unwrap(wrapped) == entry


def test_variables_with_secrets_are_handed_on_by_name() -> None:
    """Codex gives its servers no others."""
    entry = {"url": URL, "bearer_token_env_var": "TOKEN", "env_http_headers": {"X-Key": "KEY"}}
    wrapped = CODEX_BRIDGE_CODEX.wrap("s", entry, WISH)
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
        CODEX_BRIDGE_CODEX.wrap("s", entry, WISH)


NAMED = GatewayOptions(
    Gateway(Path("/opt/python"), Path("/b.yaml")), frozenset({"open"}), Path("/p")
)

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
