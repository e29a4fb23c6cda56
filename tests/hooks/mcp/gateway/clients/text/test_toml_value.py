"""Values that TOML reads back."""

from __future__ import annotations

import datetime
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.mcp.gateway.clients.text.toml_value import write_key, write_value

SCALARS = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.datetimes()
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=25)
@given(name=NAMES, value=VALUES)
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
