"""Plain bodies take a short cut that writes nothing that the walk would not write."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import (
    LATER_LIMIT,
    Walk,
    encode,
    encode_bodies_later,
    encode_body,
    encode_body_now,
    encode_plain,
    load_dump,
)
from amplifier_audit.strict_json import KEY_LIMIT, SAFE_INTEGER, WIDE, read_json

DUMP = load_dump()
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(SAFE_INTEGER - 3, SAFE_INTEGER + 3)
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(["\ud800", "\x7f", "\u2028", "😀", "\\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


def nest(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"d": value}
    return value


@given(VALUES)
def test_what_is_encoded_at_once_is_what_the_walk_would_write(value: Any) -> None:
    """The short cut changes nothing but the time."""
    body = {"value": value}
    walked = DUMP(Walk(WIDE).simplify(body)).replace(b"\x7f", b"\\u007f")
    assert json.loads(encode(body)) == json.loads(walked)
    if (at_once := encode_plain(body)) is not None:
        assert at_once.replace(b"\x7f", b"\\u007f") == walked


@given(VALUES)
def test_what_it_writes_reads_as_what_the_standard_library_writes(value: Any) -> None:
    """Whoever reads gets the same value from both."""
    plain = Walk(WIDE).simplify({"value": value})
    assert json.loads(DUMP(plain)) == json.loads(json.dumps(plain))


def test_a_usual_record_takes_the_short_cut() -> None:
    """Else it would be of no use."""
    for said in ("done", "schön", "😀 done", "\\ud83d\\ude00"):
        body = {
            "action": "continue",
            "hooks": [{"hook": "guard", "ms": 0.25}],
            "data": {said: said},
        }
        text = encode_plain(body)
        assert text is not None
        assert text == DUMP(Walk(WIDE).simplify(body))
        assert read_json(text) == body


@pytest.mark.parametrize(
    "value",
    [
        [],
        "text",
        None,
        OrderedDict(a=1),
        {1: 2},
        {"a": (1, 2)},
        {"a": {1}},
        {"a": b"x"},
        {"a": object()},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": SAFE_INTEGER + 1},
        {"a": -SAFE_INTEGER - 1},
        {"a": 2**70},
        {"a": "\ud800"},
        {"\udfff": 1},
        {"k" * (KEY_LIMIT + 1): 1},
        {"a": "x" * (WIDE.text + 1)},
        {"a": ["x" * 200] * 50},
        dict.fromkeys(map(str, range(WIDE.members + 1))),
        {"a": [0] * (WIDE.members + 1)},
        nest(WIDE.depth + 1),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_needs_the_walk_does_not_take_the_short_cut(value: Any) -> None:
    """Other types, other numbers, whatever might be over a limit."""
    assert encode_plain(value) is None


def test_a_record_just_within_the_limits_takes_the_short_cut() -> None:
    """The limits are the same as those of the walk."""
    for body in (nest(WIDE.depth), {"k" * KEY_LIMIT: SAFE_INTEGER}, {"a": [0] * WIDE.members}):
        text = encode_plain(body)
        assert text is not None
        assert json.loads(text) == Walk(WIDE).simplify(body) == body


@given(st.lists(VALUES, max_size=4))
def test_what_is_looked_at_later_is_encoded_as_if_it_had_been_at_once(values: list[Any]) -> None:
    """Whatever the other bodies are that are looked at together with it."""
    bodies = [{"value": value} for value in values]
    later = encode_bodies_later([encode_body_now(body) for body in bodies])
    assert [json.loads(body) for body in later] == [json.loads(encode_body(b)) for b in bodies]
    for body in later:
        read_json(body)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("-inf"),
        "NaN",
        "-Infinity",
        SAFE_INTEGER,
        SAFE_INTEGER + 1,
        10 ** (LATER_LIMIT - 50),
        10**5000,
        1e300,
        0.12345678901234567,
        "1234567890123456789",
        "\x7f",
        "\x1f",
        "é",
        "😀",
        "\ud800",
        "\\ud800",
        "x" * LATER_LIMIT,
        "x" * (WIDE.text + 1),
        ["x" * 2000] * 40,
        dict.fromkeys(map(str, range(WIDE.members + 1))),
    ],
    ids=lambda value: repr(type(value)) if type(value) is int else repr(value)[:20],
)
def test_a_body_is_the_same_now_and_later(value: Any) -> None:
    """For numbers and characters that the strict parser refuses, and for all that is walked."""
    body = {"before": 1, "value": value, "after": "NaN"}
    (later,) = encode_bodies_later([encode_body_now(body)])
    assert later == encode_body(body)
    read_json(later)


def test_what_a_caller_changes_afterwards_does_not_show() -> None:
    """The body of a record is what it was when it was handed over."""
    body: dict[str, Any] = {"list": [float("nan"), 2**60], "text": "é"}
    expected = encode_body(body)
    now = encode_body_now(body)
    body["list"].append("later")
    assert encode_bodies_later([now]) == [expected]
