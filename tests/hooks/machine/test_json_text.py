"""JSON of any value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_hooks.machine.json_text import encode_json, to_plain


class Broken:
    """An object that cannot even say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Model(BaseModel):
    name: str = "x"


def contain_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_any_data_is_one_line_of_ascii_json(value: Any) -> None:
    """Even lone surrogates, infinities and numbers of any size."""
    line = encode_json(value)
    assert line.isascii()
    assert b"\n" not in line
    json.loads(line)


@pytest.mark.parametrize(
    "value",
    [Broken(), {"a": Broken()}, {Broken(): 1}, contain_itself(), {"a": {1, 2}}, b"\xff", object()],
    ids=["broken", "inside", "as key", "itself", "set", "bytes", "object"],
)
def test_no_object_makes_it_raise(value: Any) -> None:
    """A value's own code may raise anything; there is JSON of it all the same."""
    assert json.loads(encode_json(value)) is not None


def test_what_json_knows_stays_as_it_is() -> None:
    """Plain data is not changed."""
    value = {"a": [1, 2.5, None, True, "ü"], "b": {}}
    assert json.loads(encode_json(value)) == value
    assert to_plain(value) == value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (2**63, str(2**63)),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), str(-(2**63))),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        ((1, 2), [1, 2]),
        ({1: 2}, {"1": 2}),
        (frozenset({1}), [1]),
    ],
)
def test_values_in_terms_of_json(value: Any, plain: Any) -> None:
    """Numbers that not every reader understands become text."""
    assert to_plain(value) == plain


def test_odd_objects_are_named() -> None:
    """Their `repr` stands for them, or their type if it fails."""
    assert "Broken" in to_plain([Broken()])[0]
    assert "name" in str(to_plain(Model()))


def test_depth_and_size_have_limits() -> None:
    """What lies beyond is an ellipsis."""
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    assert "end" not in json.dumps(to_plain(deep))
    assert to_plain([[0]] * 60_000)[-1] == "…"
