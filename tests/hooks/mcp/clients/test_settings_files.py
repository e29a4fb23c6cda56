"""A settings file as a client reads it: JSON or TOML, with one table of servers or several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.installing.editing.json_tree import (
    JsonProblem,
    Node,
    parse_json,
)
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.guards.mcp.client_files import McpPlace
from amplifier_hooks.mcp.clients import settings_files
from amplifier_hooks.mcp.clients.command_line import Gateway
from amplifier_hooks.mcp.clients.entries import Wish
from amplifier_hooks.mcp.clients.settings_files import (
    ServersFile,
    change_json_servers,
    list_json_servers,
)

WISH = Wish(Gateway(Path("/opt/python")))


def _open(path: Path, text: str, *tables: tuple[str, ...], client: str = "claude") -> ServersFile:
    path.write_text(text)
    places = tuple(McpPlace("user", path, keys) for keys in tables)
    return ServersFile(client, read_settings(path), places)


def test_the_tables_that_are_asked_about_are_changed_and_no_others(tmp_path: Path) -> None:
    """A file may have one for the person, and one for each project."""
    text = json.dumps({"s": {"a": {"command": "x"}}, "p": {"/": {"s": {"b": {"command": "y"}}}}})
    file = _open(tmp_path / "c.json", text, ("p", "/", "s"))
    assert [name for _, name, _ in file.list_servers()] == ["b"]
    changed = json.loads(file.add(WISH))
    assert changed["s"]["a"] == {"command": "x"}
    assert changed["p"]["/"]["s"]["b"]["command"] == "/opt/python"
    guarded = _open(tmp_path / "c.json", json.dumps(changed), ("p", "/", "s"), ("s",))
    assert guarded.has_ours()
    assert guarded.remove().decode() == text
    assert not file.has_ours()


def test_a_server_that_cannot_be_guarded_does_not_stop_the_others(tmp_path: Path) -> None:
    """It stays as it is."""
    text = '[mcp_servers.old]\nurl = "https://x.test/sse"\n[mcp_servers.new]\ncommand = "x"\n'
    file = _open(tmp_path / "c.toml", text, ("mcp_servers",), client="codex")
    changed = file.add(WISH).decode()
    assert changed.startswith('[mcp_servers.old]\nurl = "https://x.test/sse"\n')
    assert "/opt/python" in changed


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("c.json", '{\n "s": {"a": {"command": "x"}\n', r"c\.json, line 3: expected"),
        ("c.json", '{"s": {"a": 1, "a": 2}}', r"c\.json, line 1: the key 'a'"),
        ("c.toml", "[s\n", r"c\.toml: .*line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, where: str
) -> None:
    """And with the client that reads it."""
    file = _open(tmp_path / name, text, ("s",))
    with pytest.raises(SettingsError, match=f"{where}.*Claude Code.*nothing was changed"):
        file.add(WISH)


TEXT = """\
{
  // who needs this
  "servers": {
    "a": {
      "command": "x", // the first
      "args": ["1", "2"],
      "env": { "A": "b" /* c */ },
    },
    "b": {"url": "http://b"}, // the second
  },
  "inputs": []
}
"""
KEYS = ("servers",)


def test_the_servers_of_a_table_are_listed() -> None:
    """None where there is no table, or something else."""
    assert list(list_json_servers(TEXT, KEYS)) == ["a", "b"]
    assert list_json_servers(TEXT, ("projects", "/p", "servers")) == {}
    assert list_json_servers(TEXT, ("inputs",)) == {}
    assert list_json_servers("  \n", KEYS) == {}


def test_only_what_differs_is_written() -> None:
    """Comments stay, in the entry and around it."""
    wanted = {"command": "y", "args": ["0", "1"], "env": {"A": "b", "C": "d"}}
    changed = change_json_servers(TEXT, KEYS, {"a": wanted})
    assert changed == (
        TEXT.replace('"x", // the', '"y", // the')
        .replace('["1", "2"]', '["0", "1"]')
        .replace('"b" /* c */', '"b", "C": "d" /* c */')
    )
    assert change_json_servers(changed, KEYS, {"a": list_json_servers(TEXT, KEYS)["a"]}) == TEXT


def test_a_server_can_become_another_kind() -> None:
    """Keys go and come."""
    changed = change_json_servers(TEXT, KEYS, {"b": {"command": "z", "args": []}})
    assert list_json_servers(changed, KEYS)["b"] == {"command": "z", "args": []}
    assert changed.replace('{"command": "z", "args": []}', '{"url": "http://b"}') == TEXT


@pytest.mark.parametrize(
    "text",
    [
        '{"servers": {"a": {}, "a": {}}}',
        '{"servers": {}, "servers": {"a": {}}}',
        '{"servers": {"a": {"command": 1, "command": 2}}}',
    ],
)
def test_a_key_that_is_there_twice_is_refused(text: str) -> None:
    """Nobody knows which one a client reads."""
    with pytest.raises(JsonProblem, match="a second time"):
        change_json_servers(text, KEYS, {"a": {"command": "x"}})


def test_a_large_file_is_not_read_again_for_every_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code keeps much more than servers in its file."""
    servers = {f"s{number}": {"command": "x", "args": ["1"]} for number in range(20)}
    text = json.dumps({"mcpServers": servers, "history": ["x" * 50] * 1000}, indent=2)
    large: set[str] = set()

    def parse(text: str, **options: bool) -> Node:
        if len(text) > 50_000:
            large.add(text)
        return parse_json(text, **options)

    monkeypatch.setattr(settings_files, "parse_json", parse)
    wanted = {name: {"command": "y", "args": ["2", "3"], "env": {}} for name in servers}
    changed = change_json_servers(text, ("mcpServers",), wanted)
    assert json.loads(changed)["mcpServers"] == wanted
    assert large == {text}


VALUES = st.recursive(
    st.text(max_size=3) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=2), VALUES, max_size=4)


@settings(max_examples=25)
@given(old=OBJECTS, new=OBJECTS, beside=OBJECTS, indent=st.sampled_from([None, 2, "\t"]))
def test_any_value_can_become_any_other(
    old: dict[str, Any], new: dict[str, Any], beside: dict[str, Any], indent: Any
) -> None:
    """And what is beside it stays."""
    text = json.dumps({"servers": {"a": old, "b": beside}, "more": beside}, indent=indent)
    changed = change_json_servers(text, KEYS, {"a": new})
    assert json.loads(changed) == {"servers": {"a": new, "b": beside}, "more": beside}
    assert json.loads(change_json_servers(changed, KEYS, {"a": old})) == json.loads(text)


def test_a_table_may_be_an_item_of_an_array() -> None:
    """So marketplaces of plugins have them."""
    text = '{"p": [1, {"s": {"a": {"command": "x"}}}]}'
    assert list_json_servers(text, ("p", "1", "s")) == {"a": {"command": "x"}}
    for keys in (("p", "2", "s"), ("p", "-1", "s"), ("p", "01", "s"), ("p", "0", "s"), ("p",)):
        assert list_json_servers(text, keys) == {}
