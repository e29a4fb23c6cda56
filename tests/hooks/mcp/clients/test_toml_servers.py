"""Servers in TOML: one entry is changed, in whichever form it is written."""

from __future__ import annotations

import datetime
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.mcp.clients.toml_servers import (
    TomlProblem,
    change_toml_servers,
    list_statements,
    list_toml_servers,
    write_key,
    write_value,
)

KEYS = ("mcp_servers",)
TEXT = """\
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


def test_the_servers_of_a_table_are_listed() -> None:
    """None where there is no table, or something else."""
    assert list_toml_servers(TEXT, KEYS) == {
        "a": {"command": "x", "args": ["1"], "env": {"A": "b"}}
    }
    assert list_toml_servers("", KEYS) == {}
    assert list_toml_servers("mcp_servers = 1", KEYS) == {}
    with pytest.raises(TomlProblem, match="Invalid value"):
        list_toml_servers("mcp_servers = ", KEYS)


def test_only_what_differs_is_written() -> None:
    """Comments and other tables stay."""
    wanted = {"command": "y", "args": ["1"], "env": {"A": "c", "B": "d"}, "new": [1]}
    changed = change_toml_servers(TEXT, KEYS, {"a": wanted})
    assert changed == (
        TEXT.replace('"x" # why', '"y" # why')
        .replace('  "1", # one\n]\n', '  "1", # one\n]\nnew = [1]\n')
        .replace('A = "b"\n', 'A = "c"\nB = "d"\n')
    )
    assert change_toml_servers(changed, KEYS, {"a": list_toml_servers(TEXT, KEYS)["a"]}) == TEXT


def test_a_table_below_an_entry_can_go_and_come() -> None:
    """It comes back as a key of the entry."""
    changed = change_toml_servers(TEXT, KEYS, {"a": {"command": "x", "args": ["1"]}})
    assert changed == TEXT.replace('[mcp_servers.a.env]\nA = "b"\n', "")
    again = change_toml_servers(changed, KEYS, {"a": list_toml_servers(TEXT, KEYS)["a"]})
    assert tomllib.loads(again) == tomllib.loads(TEXT)
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
    old = list_toml_servers(text, KEYS)["a"]
    wanted = {"url": "http://x", "headers": {"A": "b"}, "n": 1}
    changed = change_toml_servers(text, KEYS, {"a": wanted})
    assert tomllib.loads(changed)["mcp_servers"]["a"] == wanted
    again = change_toml_servers(changed, KEYS, {"a": old})
    assert tomllib.loads(again) == tomllib.loads(text)


def test_an_entry_that_cannot_be_changed_alone_is_refused() -> None:
    """With what would do."""
    text = "[mcp_servers.a.env]\nA = 'b'\n"
    with pytest.raises(TomlProblem, match=r"no place for mcp_servers\.a\.command"):
        change_toml_servers(text, KEYS, {"a": {"command": "x", "env": {"A": "b"}}})


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
    changed = change_toml_servers(text, KEYS, {name: new})
    assert tomllib.loads(changed) == {**tomllib.loads(text), "mcp_servers": {name: new}}
    assert changed.endswith(end)
    again = change_toml_servers(changed, KEYS, {name: old})
    assert tomllib.loads(again) == tomllib.loads(text)


TOML_TEXT_TEXT = '''\
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
        (one.path, TOML_TEXT_TEXT[one.value : one.end])
        for one in list_statements(TOML_TEXT_TEXT)
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
        (one.table, TOML_TEXT_TEXT[one.start : one.end])
        for one in list_statements(TOML_TEXT_TEXT)
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
VALUES = st.recursive(
    TOML_VALUE_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TOML_VALUE_NAMES, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=25)
@given(name=TOML_VALUE_NAMES, value=VALUES)
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
