"""One digest per value, whatever the value is."""

from __future__ import annotations

import json
import math
import sys
from enum import IntEnum
from pathlib import Path
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


SHARED = [0]


class Named:
    def __repr__(self) -> str:
        return "named"


def deep(depth: int, leaf: Any) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"a": value}
    return value


def deep_list(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [(value,)]
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
        ({1: 0, "1": 1}, {1: 1, "1": 0}), ({1: [], "a": 0}, {1: {}, "a": 0}),
        ({1: SHARED, "a": SHARED}, {2: SHARED, "a": SHARED}), ({1: "x", "a": 0}, {1: "y", "a": 0}),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_different_values_differ_and_equal_ones_agree(one, other):
    assert digest(one) != digest(other)
    assert digest(one) == digest(one)


def test_order_of_keys_does_not_matter():
    assert digest({"a": 1, "b": {1, 2}}) == digest({"b": {2, 1}, "a": 1})
    assert digest({1: 1, "b": 2}) == digest({"b": 2, 1: 1})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": [1, None], "a": "ü"}, '{"a":"\\u00fc","b":[1,null]}'),
        (b"\x00\xff", '{"__bytes__":"00ff"}'),
        (bytearray(b"\x01"), '{"__bytes__":"01"}'),
        (memoryview(b"\x02"), '{"__bytes__":"02"}'),
        ({2, 1}, '{"__set__":["1","2"]}'),
        (frozenset({"a"}), '{"__set__":["\\"a\\""]}'),
        (Named(), '{"__object__":"Named","repr":"named"}'),
    ],
)
def test_the_form_of_a_value_is_fixed(value, text):
    """A digest in an old trail is the digest of the same value today."""
    assert canonical_bytes(value) == text.encode()


def test_it_never_raises():
    for odd in (Rude(), [Rude()], {1: Rude(), "a": 1}, object(), {Rude(): 1}, {1: "ü", "ü": 1}):
        assert len(digest(odd)) == 64


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_bytes_are_ascii_and_stable(value):
    assert canonical_bytes(value).isascii()
    assert canonical_bytes(value) == canonical_bytes(value)


@pytest.mark.parametrize(
    "value", [1, "a", {"b": [1.5, None], "a": {1, 2}}, cyclic(1), deep(2000, 1)]
)
def test_a_python_without_the_fast_encoder_finds_the_same(
    value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a person approved is the same on any machine."""
    fast = digest(value)
    monkeypatch.setattr("json.encoder.c_make_encoder", None)
    assert digest(value) == fast


class Level(IntEnum):
    HIGH = 3


GOLDEN: dict[str, Any] = {
    "null": None,
    "booleans": [True, False],
    "integers": [0, -1, 2**63, -(2**64), Level.HIGH],
    "the longest integer": -(10**4300) + 1,
    "a longer integer": [10**4300],
    "floats": [0.0, -0.0, 0.1, 1e16, 1e22, 5e-324, 1.7976931348623157e308, 1 / 3],
    "no numbers": [math.nan, math.inf, -math.inf],
    "texts": ["", "ü", "\x00\x7f\u2028", "日本", "\U0001f600", 'a"b\\c/'],
    "surrogates": ["\ud800", "\udc00\ud800", "\ud83d\ude00"],
    "new characters": "\U0001fae9\u0897",  # of Unicode 16: no Python before 3.14 prints them
    "order of keys": {"b": 1, "a": 2, "B": 3, "ü": 4, "": 5, "\U0001f600": 6, "\uffff": 7},
    "keys that are no texts": [
        {1: 1, -2: 2},
        {1.5: 1, 0.5: 2},
        {True: 1},
        {None: 1},
        {Level.HIGH: 1},
    ],
    "mixed keys": {1: "x", "a": "ü\U0001fae9", None: 2.5, (1, "ü"): 3},
    "containers": [[], {}, (), [[]], {"a": {}}, (1, (2,))],
    "bytes and sets": [b"\x00\xff", bytearray(b"a"), {1, "a", (2,)}, frozenset({b"x"})],
    "objects": [Named(), 1j, {"a": Named()}],
    "nested": deep(300, [1, {"x": None}]),
    "deeply nested": deep(20_000, {"b": 1.5, "a": ["ü", 10**700]}),
    "deeply nested lists and tuples": deep_list(5_000),
    "deeply nested bytes and sets": deep(5_000, [b"x", {1, "a"}, Named()]),
    "itself": cyclic("ü"),
}


def test_digests_are_the_same_on_every_python():
    """What a person approved on one machine is what runs on another."""
    golden = json.loads((Path(__file__).parent / "digests.json").read_text())
    assert {name: digest(value) for name, value in GOLDEN.items()} == golden


@pytest.mark.parametrize("name", GOLDEN)
def test_digests_do_not_depend_on_limits_of_the_interpreter(name: str) -> None:
    """Neither on how deep the stack is, nor on how many digits may be written."""
    value, expected = GOLDEN[name], digest(GOLDEN[name])

    def descend(levels: int) -> str:
        return descend(levels - 1) if levels else digest(value)

    digits = sys.get_int_max_str_digits()
    try:
        for limit in (0, 640, 4300):
            sys.set_int_max_str_digits(limit)
            assert digest(value) == expected
    finally:
        sys.set_int_max_str_digits(digits)
    assert descend(700) == expected


@pytest.mark.parametrize("limit", [1_000, 1_000_000])
def test_what_contains_itself_is_noticed_at_once(limit: int) -> None:
    """A tree whose nodes know their parent is not written once for each level of recursion."""
    root: dict[str, Any] = {}
    root["child"] = {"lines": Counted(["x"] * 1_000), "parent": root}
    before = sys.getrecursionlimit()
    Counted.looks = 0
    sys.setrecursionlimit(limit)
    try:
        found = digest(root)
    finally:
        sys.setrecursionlimit(before)
    assert found == digest(root)
    assert Counted.looks <= 4


class Counted(list):
    """Counts how often somebody reads it."""

    looks = 0

    def __iter__(self) -> Any:
        type(self).looks += 1
        return super().__iter__()
