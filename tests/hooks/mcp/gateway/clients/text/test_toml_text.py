"""Where the statements of a TOML document begin and end."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.gateway.clients.text.toml_text import list_statements

TEXT = '''\
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
    found = [(one.path, TEXT[one.value : one.end]) for one in list_statements(TEXT) if one.key]
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
    found = [(one.table, TEXT[one.start : one.end]) for one in list_statements(TEXT) if not one.key]
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
