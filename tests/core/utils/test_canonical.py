"""One digest per value, whatever the value is."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.utils import canonical_bytes, digest


class Rude:
    def __repr__(self) -> str:
        raise ValueError("no")


class RudeDict(dict):
    def items(self) -> Any:
        raise ValueError("no")


def deep(depth: int, leaf: Any) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"a": value}
    return value


def cyclic(leaf: Any) -> Any:
    value: dict[str, Any] = {"leaf": leaf}
    value["self"] = [value]
    return value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ({1: "a"}, {2: "a"}), ([1], [1, 1]),
        (deep(10_000, 1), deep(10_000, 2)), (deep(3_000, 1), deep(2_999, 1)),
        (cyclic(1), cyclic(2)), (10**5000, 10**5000 + 1), (b"a", b"b"), ({1}, {2}),
        ({1: "x", "a": {1}}, {1: "x", "a": {2}}), (math.nan, 1.0), ("\ud800", "\ud801"),
        (deep(3_000, (1, 2)), deep(3_000, (2, 1))), (RudeDict(a=1), RudeDict(a=2)),
        ({1: 0, "1": 1}, {1: 1, "1": 0}),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_different_values_differ_and_equal_ones_agree(one, other):
    assert digest(one) != digest(other)
    assert digest(one) == digest(one)


def test_order_of_keys_does_not_matter():
    assert digest({"a": 1, "b": {1, 2}}) == digest({"b": {2, 1}, "a": 1})
    assert digest({1: 1, "b": 2}) == digest({"b": 2, 1: 1})


def test_it_never_raises():
    for odd in (Rude(), [Rude()], {1: Rude(), "a": 1}, object(), {Rude(): 1}):
        assert len(digest(odd)) == 64


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_bytes_are_ascii_and_stable(value):
    assert canonical_bytes(value).isascii()
    assert canonical_bytes(value) == canonical_bytes(value)
