"""An entry with the gateway before its server, and without."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.mcp.gateway.clients.dialects import DIALECTS
from amplifier_hooks.mcp.gateway.clients.entry import (
    Unbridgeable,
    Wish,
    check_text,
    find_line,
    find_own_line,
)
from amplifier_hooks.mcp.gateway.clients.line import Gateway, make_gateway

WISH = Wish(Gateway(Path("/opt/python")))
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
    other = Wish(Gateway(Path("/opt/python"), Path("/b.yaml")))
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
