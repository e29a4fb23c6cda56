"""Odd values among plain ones: what is written at once and later is what the walk writes."""

from __future__ import annotations

import array
import math
from collections import OrderedDict, namedtuple
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_audit.encoding import (
    LATER_LIMIT,
    Walk,
    encode_bodies_later,
    encode_body,
    encode_body_now,
    load_dump,
)
from amplifier_audit.strict_json import BODY_LIMIT, KEY_LIMIT, SAFE_INTEGER, WIDE, read_json
from tests.audit.format.odd_texts import Name, Twin

DUMP = load_dump()
Pair = namedtuple("Pair", "a b")


class Number(int):
    pass


class Colour(Enum):
    RED = "red"


class Code(IntEnum):
    ONE = 1


class Model(BaseModel):
    a: int = 1
    b: dict[str, Any] = {"x": [1, "é"]}


class Speechless:
    def __repr__(self) -> str:
        raise RuntimeError("no")


ODD: list[Any] = [
    *((1, "a"), {1}, frozenset({"a"}), b"bytes", b"\xff", bytearray(b"x"), memoryview(b"m")),
    *(array.array("i", [1, 2]), 1 + 2j, ..., StopIteration, (lambda: 1).__code__, range(3)),
    *(Name("n"), Number(5), OrderedDict(a=1), Colour.RED, Code.ONE, Decimal("1.5"), Pair(1, 2)),
    *(ValueError("bad"), Model(), Speechless(), math.nan, math.inf, -math.inf, -0.0, 1e16),
    *(SAFE_INTEGER, SAFE_INTEGER + 1, -SAFE_INTEGER - 1, 2**70, 10**3900, 10**5000),
    *("\ud800", "\\ud800", "\x7f", "NaN", "-Infinity", "1" * 20, '"' * 300, "\\" * 301),
    *("x" * length for length in (KEY_LIMIT, KEY_LIMIT + 1, LATER_LIMIT, WIDE.text + 1)),
    *([0] * WIDE.members, [0] * (WIDE.members + 1), [[0]] * WIDE.members, [[0, 0]] * 200),
]
# By their number, because not all of them can be printed.
ANY_ODD = st.integers(0, len(ODD) - 1).map(lambda number: ODD[number])
KEYS = st.text(max_size=5) | st.sampled_from(
    [
        *(1, True, None, 1.5, (1, 2), b"k", "1", Name("k"), Twin("k"), Twin("k"), Number(1)),
        *(Colour.RED, 1j, "k" * KEY_LIMIT, "k" * (KEY_LIMIT + 1), "é" * KEY_LIMIT, '"' * 300),
        *("\ud800", "\x7f", 'a"' * 130, "\\" * 260),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ANY_ODD,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | inner.map(lambda one: [one, {"again": one}])
        | st.integers(1, 17).flatmap(lambda depth: inner.map(lambda one: nest(depth, one)))
    ),
    max_leaves=12,
)


def nest(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = {"d": [value]}
    return value


def write(*bodies: Any) -> list[bytes]:
    """As the log does: a part at once, the rest together."""
    return encode_bodies_later([encode_body_now(body) for body in bodies])


@settings(max_examples=400, deadline=None)
@given(VALUES, VALUES)
def test_what_is_written_is_what_the_walk_makes_of_it(value: Any, other: Any) -> None:
    """Byte for byte, and whatever is looked at together with it."""
    body, neighbour = {"value": value}, {"other": other}
    walked = DUMP(Walk(WIDE).simplify(body)).replace(b"\x7f", b"\\u007f")
    written, _ = write(body, neighbour)
    assert written == encode_body(body)
    if len(walked) <= BODY_LIMIT:
        assert written == walked
    read_json(written)


def test_a_container_in_itself_is_cut_and_one_that_is_met_again_is_not() -> None:
    """A snapshot of the one would have no end; the other is written twice."""
    circle: dict[str, Any] = {"shared": []}
    circle["again"] = circle["shared"]
    assert write(circle) == [b'{"shared":[],"again":[]}']
    circle["circle"] = circle
    (written,) = write(circle)
    assert read_json(written)["circle"] == {"$cut": "cycle", "members": 3}


def test_a_body_that_is_changed_right_after_is_written_as_it_was() -> None:
    """At any depth, and whether it is plain or not."""
    for inside in (1, b"x", math.nan, "é" * 400):
        body: dict[str, Any] = {"a": [{"b": [inside]}], "c": {}}
        expected, now = encode_body(body), encode_body_now(body)
        body["a"][0]["b"].append("later")
        body["c"]["later"] = body.pop("a")
        assert encode_bodies_later([now]) == [expected]
