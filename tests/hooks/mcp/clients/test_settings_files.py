"""Servers in settings files, in JSON and in TOML."""

from __future__ import annotations

import datetime
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.installing.json_edit import (
    JsonProblem,
    Node,
    parse_json,
)
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.guards.mcp.client_files import McpPlace
from amplifier_hooks.mcp.clients import settings_files
from amplifier_hooks.mcp.clients.command_line import Gateway
from amplifier_hooks.mcp.clients.entries import GatewayOptions
from amplifier_hooks.mcp.clients.settings_files import (
    ServersFile,
    TomlProblem,
    change_json_servers,
    change_toml_servers,
    list_json_servers,
    list_statements,
    list_toml_servers,
    write_key,
    write_value,
)

WISH = GatewayOptions(Gateway(Path("/opt/python")))


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


TOML_KEYS = ("mcp_servers",)
TOML_TEXT = """\
model = "m" # mine

[mcp_servers.a] # the first
command = "x" # why
args = [
  "1", # one
]

[mcp_servers.a.env]
A = "b"

[other]
command = "x"
"""


def test_the_servers_of_a_toml_table_are_listed() -> None:
    """None where there is no table, or something else."""
    assert list_toml_servers(TOML_TEXT, TOML_KEYS) == {
        "a": {"command": "x", "args": ["1"], "env": {"A": "b"}}
    }
    assert list_toml_servers("", TOML_KEYS) == {}
    assert list_toml_servers("mcp_servers = 1", TOML_KEYS) == {}
    with pytest.raises(TomlProblem, match="Invalid value"):
        list_toml_servers("mcp_servers = ", TOML_KEYS)


def test_only_what_differs_is_written_in_toml() -> None:
    """Comments and other tables stay."""
    wanted = {"command": "y", "args": ["1"], "env": {"A": "c", "B": "d"}, "new": [1]}
    changed = change_toml_servers(TOML_TEXT, TOML_KEYS, {"a": wanted})
    assert changed == (
        TOML_TEXT.replace('"x" # why', '"y" # why')
        .replace('  "1", # one\n]\n', '  "1", # one\n]\nnew = [1]\n')
        .replace('A = "b"\n', 'A = "c"\nB = "d"\n')
    )
    assert (
        change_toml_servers(
            changed,
            TOML_KEYS,
            {"a": list_toml_servers(TOML_TEXT, TOML_KEYS)["a"]},
        )
        == TOML_TEXT
    )


def test_a_table_below_an_entry_can_go_and_come() -> None:
    """It comes back as a key of the entry."""
    changed = change_toml_servers(TOML_TEXT, TOML_KEYS, {"a": {"command": "x", "args": ["1"]}})
    assert changed == TOML_TEXT.replace('[mcp_servers.a.env]\nA = "b"\n', "")
    again = change_toml_servers(
        changed,
        TOML_KEYS,
        {"a": list_toml_servers(TOML_TEXT, TOML_KEYS)["a"]},
    )
    assert tomllib.loads(again) == tomllib.loads(TOML_TEXT)
    assert 'env = { A = "b" }\n' in again


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.a]\ncommand = "x"\nn = 1',
        '[mcp_servers]\na = { command = "x", n = 1 }\nb.command = "z"\n',
        '[mcp_servers]\na.command = "x"\na.n = 1\nb.command = "z"\n',
        'mcp_servers.a.command = "x"\nmcp_servers.a.n = 1\nm = 1\n[other]\nx = 1\n',
        '[mcp_servers]\na.command = "x"\nb.command = "z"\n',
        'mcp_servers = { a = { command = "x", n = 1 }, b = {} }\n',
        '  [ mcp_servers . "a" ]\r\n  command = "x"\r\n  n = 1\r\n',
        '[mcp_servers.a.env]\n[mcp_servers.a]\ncommand = "x"\nn = 1\n[[list]]\na = 1\n',
    ],
)
def test_every_form_of_an_entry_can_be_changed(text: str) -> None:
    """And changed back."""
    old = list_toml_servers(text, TOML_KEYS)["a"]
    wanted = {"url": "http://x", "headers": {"A": "b"}, "n": 1}
    changed = change_toml_servers(text, TOML_KEYS, {"a": wanted})
    assert tomllib.loads(changed)["mcp_servers"]["a"] == wanted
    again = change_toml_servers(changed, TOML_KEYS, {"a": old})
    assert tomllib.loads(again) == tomllib.loads(text)


def test_an_entry_that_cannot_be_changed_alone_is_refused() -> None:
    """With what would do."""
    text = "[mcp_servers.a.env]\nA = 'b'\n"
    with pytest.raises(TomlProblem, match=r"no place for mcp_servers\.a\.command"):
        change_toml_servers(text, TOML_KEYS, {"a": {"command": "x", "env": {"A": "b"}}})


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
SCALARS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.integers(0, 9)
TABLES = st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
ENTRIES = st.builds(
    lambda plain, env: {**plain, "env": env, "command": "x"}, TABLES, st.none() | TABLES
).map(lambda entry: {key: value for key, value in entry.items() if value is not None})


def _write(name: str, entry: dict[str, Any], *, as_tables: bool) -> str:
    if not as_tables:
        return f"[mcp_servers]\n{write_key(name)} = {write_value(entry)}\n"
    tables = {key: value for key, value in entry.items() if isinstance(value, dict)}
    lines = [f"[{write_key('mcp_servers', name)}]"]
    lines += [f"{write_key(key)} = {write_value(entry[key])}" for key in entry if key not in tables]
    for key, value in tables.items():
        lines += ["", f"[{write_key('mcp_servers', name, key)}] # below"]
        lines += [f"{write_key(one)} = {write_value(value[one])}" for one in value]
    return "\n".join(lines) + "\n"


@settings(max_examples=25)
@given(
    name=NAMES,
    old=ENTRIES,
    new=ENTRIES,
    as_tables=st.booleans(),
    end=st.sampled_from(["", "\n[z]\nq = 1\n"]),
)
def test_any_entry_can_become_any_other(
    name: str, old: dict[str, Any], new: dict[str, Any], as_tables: bool, end: str
) -> None:
    """And what is behind it stays."""
    text = _write(name, old, as_tables=as_tables) + end
    changed = change_toml_servers(text, TOML_KEYS, {name: new})
    assert tomllib.loads(changed) == {**tomllib.loads(text), "mcp_servers": {name: new}}
    assert changed.endswith(end)
    again = change_toml_servers(changed, TOML_KEYS, {name: old})
    assert tomllib.loads(again) == tomllib.loads(text)


TOML_STATEMENTS = '''\
# first
a = 1 # one
"b c".'d.e' . f = """
x = ]
""" # two
[ t . "u v" ]   # three
g = [ "]", # "four"
  { h = '}', i.j = 1979-05-27 07:32:00 }, [ -1.5e3 ] ]
[[ list ]]
k = {}
'''


def test_statements_have_their_paths_and_texts() -> None:
    """In every form of keys and values."""
    found = [
        (one.path, TOML_STATEMENTS[one.value : one.end])
        for one in list_statements(TOML_STATEMENTS)
        if one.key
    ]
    assert found == [
        (("a",), "1"),
        (("b c", "d.e", "f"), '"""\nx = ]\n"""'),
        (
            ("t", "u v", "g"),
            '[ "]", # "four"\n  { h = \'}\', i.j = 1979-05-27 07:32:00 }, [ -1.5e3 ] ]',
        ),
        (("list", "k"), "{}"),
    ]


def test_headers_begin_tables() -> None:
    """With the brackets as their text."""
    found = [
        (one.table, TOML_STATEMENTS[one.start : one.end])
        for one in list_statements(TOML_STATEMENTS)
        if not one.key
    ]
    assert found == [(("t", "u v"), '[ t . "u v" ]'), (("list",), "[[ list ]]")]


def test_a_value_ends_where_its_last_quote_is() -> None:
    """Up to two quotes may stand before the closing ones."""
    text = 'a = """x"""""\nb = \'\'\'y\'\'\'\'\nc = "\\""\n'
    found = [text[one.value : one.end] for one in list_statements(text)]
    assert found == ['"""x"""""', "'''y''''", '"\\""']


def test_what_is_no_toml_is_named_with_its_line() -> None:
    """It should have been read before."""
    with pytest.raises(ValueError, match="line 2: this TOML is new to us"):
        list_statements("a = 1\n= 2\n")


TOML_VALUE_SCALARS = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.datetimes()
)
TOML_VALUE_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
TOML_VALUES = st.recursive(
    TOML_VALUE_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TOML_VALUE_NAMES, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=25)
@given(name=TOML_VALUE_NAMES, value=TOML_VALUES)
def test_what_is_written_is_read_back(name: str, value: Any) -> None:
    """Whatever the value, and whatever its name."""
    assert tomllib.loads(f"{write_key(name)} = {write_value(value)}") == {name: value}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\x7f\n", '"a\\u007f\\n"'),
        ({"a b": [True, 1.5]}, '{ "a b" = [true, 1.5] }'),
        ({}, "{}"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.time(1, 2, 3), "01:02:03"),
    ],
)
def test_values_look_as_people_write_them(value: Any, text: str) -> None:
    """In one line."""
    assert write_value(value) == text


def test_a_key_has_quotes_only_where_it_needs_them() -> None:
    """And dots between its parts."""
    assert write_key("mcp_servers", "my server", "env") == 'mcp_servers."my server".env'
