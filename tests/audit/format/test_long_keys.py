"""Keys over the limit are found in the JSON, wherever they stand and whatever is around them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import (
    Walk,
    encode_body,
    encode_body_now,
    load_dump,
    may_have_long_key,
)
from amplifier_audit.strict_json import KEY_LIMIT, WIDE

DUMP = load_dump()
LETTERS = st.sampled_from(['"', "\\", '\\"', "a", ":", '":', ",", "é", "\n", " "])
LONG = st.lists(LETTERS, min_size=1, max_size=6).flatmap(
    lambda some: st.integers(0, 400).map(lambda n: ("".join(some) * n)[:n])
)
TEXTS = LONG | st.text(max_size=10)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none() | st.integers(0, 300).map(lambda n: [1] * n),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def find_longest_key(value: Any) -> int:
    """As a person would look for it."""
    if isinstance(value, list):
        return max(map(find_longest_key, value), default=0)
    if not isinstance(value, dict):
        return 0
    below = find_longest_key([*value.values()])
    return max(below, *map(len, value)) if value else 0


@given(VALUES)
def test_no_long_key_is_overlooked(value: Any) -> None:
    """Quotes inside a text, spelled out, do not hide one."""
    text = DUMP({"value": value})
    if find_longest_key(value) > KEY_LIMIT:
        assert may_have_long_key(text)


@given(st.lists(VALUES, max_size=4))
def test_none_is_overlooked_among_many_bodies(values: list[Any]) -> None:
    """Those before and after it do not hide it."""
    text = b" ".join(DUMP({"value": value}) for value in values)
    if find_longest_key(values) > KEY_LIMIT:
        assert may_have_long_key(text)


@pytest.mark.parametrize(
    "value",
    [
        {"k" * KEY_LIMIT: 1},
        {"a": "x" * 3000, "b": ["y" * 3000, "z" * 300]},
        {"a": '"' * 300, "b": 'say: "' * 100},
        {"a": "\\" * 301},
        {"a": [1] * 900, "b": 2},
        {f"{n}": n for n in range(2000)},
        {},
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_long_text_is_not_taken_for_a_key(value: Any) -> None:
    """Else every answer of a tool would be walked."""
    assert not may_have_long_key(DUMP(value))


@pytest.mark.parametrize("where", ["top", "below"])
def test_a_key_is_short_each_by_itself(where: str) -> None:
    """However long all of them are together."""
    for length, expected in ((KEY_LIMIT, False), (KEY_LIMIT + 1, True)):
        value: dict[str, Any] = {f"{n}" + "k" * (length - 1): n for n in range(4)}
        text = DUMP(value if where == "top" else {"below": [value]})
        assert may_have_long_key(text) is expected


@given(VALUES)
def test_a_body_with_long_keys_is_what_the_walk_makes_of_it(value: Any) -> None:
    """Both when it is encoded as a whole and when a part is left for later."""
    body = {"value": value}
    expected = json.loads(DUMP(Walk(WIDE).simplify(body)))
    assert json.loads(encode_body(body)) == expected
    if find_longest_key(value) > KEY_LIMIT:
        assert encode_body_now(body) == encode_body(body)
