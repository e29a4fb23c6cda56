"""Any value becomes one line of strict JSON."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections import OrderedDict
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_json

from amplifier_audit.format.encoding import encode, encode_body, encode_member
from amplifier_audit.format.limits import BODY_LIMIT, NARROW, SAFE_INTEGER, WIDE
from amplifier_audit.format.record import parse_record
from amplifier_audit.format.walk import Walk
from tests.audit.support import LineCollector

JSON_LIKE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner),
    max_leaves=30,
)


def read(value: Any) -> Any:
    """What a reader of the line gets."""
    return json.loads(encode(value))


@given(JSON_LIKE)
def test_any_value_becomes_a_record_that_the_strict_parser_takes(value: Any) -> None:
    """Records are written only by the encoder; newline and U+2028 always escaped."""
    sink = LineCollector()
    sink.append("dispatch", {"value": value}, session="s")
    (line,) = sink.lines
    assert line.count(b"\n") == 1
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    assert parse_record(line)["type"] == "dispatch"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-SAFE_INTEGER, SAFE_INTEGER)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=50),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=20,
    )
)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    """The file is useful with ordinary tools."""
    assert read(value) == value


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Liar:
    def __getattribute__(self, name: str) -> Any:
        raise ValueError("no such thing")


class Colour(Enum):
    RED = "red"


class Rank(IntEnum):
    ONE = 1


class Number(int):
    pass


class Text(str):
    __slots__ = ()


class Point(BaseModel):
    x: int = 1


ODD: list[tuple[Any, Any]] = [
    (float("nan"), {"$float": "nan"}),
    (float("-inf"), {"$float": "-inf"}),
    (1.5, 1.5),
    ("a\ud800b", "a\\ud800b"),
    ("a\u2028b\r\n\0\ufeff\x7f", "a\u2028b\r\n\0\ufeff\x7f"),
    (2**60, {"$int": hex(2**60)}),
    (10**5000, {"$int": None, "bits": (10**5000).bit_length()}),
    (Colour.RED, "red"),
    (Rank.ONE, 1),
    (Text("x"), "x"),
    (Number(5), 5),
    (Point(), {"x": 1}),
    ((1, {2}), [1, [2]]),
    (OrderedDict(a=1), {"a": 1}),
    (KeyError("k"), {"$error": "KeyError: 'k'"}),
    (Path("/x"), {"$object": "PosixPath", "repr": "PosixPath('/x')"}),
    (Liar(), {"$object": "Liar", "error": "ValueError"}),
    ({1: "a", "1": "b", None: "c"}, {"1": "a", "1#2": "b", "None": "c"}),
    (
        b"\xff\x00",
        {
            "$bytes": "ff00",
            "length": 2,
            "sha256": hashlib.sha256(b"\xff\x00").hexdigest(),
        },
    ),
]


@pytest.mark.parametrize(("value", "expected"), ODD, ids=[str(n) for n in range(len(ODD))])
def test_odd_values_are_told_by_what_they_are(value: Any, expected: Any) -> None:
    """NaN, lone surrogates, bytes, arbitrary objects: only the audit trail encodes."""
    assert read(value) == expected


def test_an_object_whose_repr_raises_is_named() -> None:
    """T21: object whose repr or deepcopy raises."""
    assert read(Loud())["$object"] == "Loud"
    assert "RuntimeError" in read(Loud())["repr"]


def test_a_cycle_is_cut_where_it_closes() -> None:
    """T21: self-referencing dict."""
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    assert read(value) == {"a": 1, "self": {"$cut": "cycle", "members": 2}}


def test_a_value_that_is_met_twice_without_a_cycle_is_kept_twice() -> None:
    """Only what contains itself is a cycle."""
    shared = [1]
    assert read([shared, shared]) == [[1], [1]]


def test_a_web_of_references_stays_within_the_node_limit() -> None:
    """T21: limits on every field, before copy."""
    level: Any = "leaf"
    for _ in range(12):
        level = [level] * 50
    assert len(encode(level)) < 200_000
    assert b'"nodes"' in encode(level)


def test_great_depth_is_cut() -> None:
    """T21: depth 10,000."""
    value: Any = 1
    for _ in range(10_000):
        value = {"d": value}
    assert b'{"$cut":"depth","members":1}' in encode(value)


def test_a_million_keys_are_counted_and_the_first_kept() -> None:
    """T21: 1,000,000 keys."""
    read_back = read(dict.fromkeys(map(str, range(1_000_000))))
    assert read_back["$cut"] == {"members": 1_000_000, "kept": 256}
    assert len(read_back) == 257


def test_a_long_list_ends_with_its_count() -> None:
    """What is left out is said."""
    assert read(list(range(300)))[-1] == {"$cut": "members", "members": 300, "kept": 256}


def test_a_text_of_100_mb_becomes_digest_and_length_without_being_copied() -> None:
    """T21: 100 MB tool result; audit stores digest plus length."""
    text = "x" * 100_000_000
    tracemalloc.start()
    cut = read({"output": text})["output"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert cut["length"] == 100_000_000
    assert cut["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert cut["head"] == "x" * 200
    assert peak < 10_000_000


def test_long_keys_are_cut_and_stay_apart() -> None:
    """T21: limits on every field."""
    keys = list(read({"k" * 999 + "a": 1, "k" * 999 + "b": 2}))
    assert len(set(keys)) == 2
    assert all(len(key) < 300 for key in keys)


def test_keys_with_surrogates_that_would_collide_stay_apart() -> None:
    """T22: duplicate key."""
    assert len(read({"\ud800": 1, "\\ud800": 2})) == 2


@pytest.mark.parametrize("texts", [8, 400])
def test_a_body_that_is_too_large_is_first_narrowed_then_digested(texts: int) -> None:
    """One line has at most 64 KiB."""
    wide = encode_body({f"k{n}": "é" * 8000 for n in range(texts)})
    assert len(wide) <= BODY_LIMIT
    huge = encode_body({f"k{n}": {f"j{m}": "\x01" * 255 for m in range(30)} for n in range(30)})
    assert len(huge) <= BODY_LIMIT


def test_a_body_that_fits_in_no_form_becomes_its_digest() -> None:
    """One line has at most 64 KiB."""
    body = {f"k{n}": {f"j{m}": "\x01" * 256 for m in range(32)} for n in range(32)}
    assert json.loads(encode_body(body))["$cut"] == "record"
    assert NARROW.nodes < 1000


def test_a_body_that_is_no_mapping_is_wrapped() -> None:
    """`append` never raises on odd values."""
    assert json.loads(encode_body([1])) == {"value": [1]}


class Shifting(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("changed during iteration")


def test_a_mapping_that_fails_while_it_is_read_is_named() -> None:
    """`append` never raises on odd values."""
    assert read({"m": Shifting(a=1)}) == {"m": {"$object": "Shifting", "error": "RuntimeError"}}
    assert json.loads(encode_body(Shifting(a=1)))["$object"] == "Shifting"


def test_members_of_the_line_take_odd_values_too() -> None:
    """`append` never raises on odd values."""
    assert encode_member(None) == b"null"
    assert encode_member("s\n") == b'"s\\n"'
    assert encode_member(float("nan")) == b'{"$float":"nan"}'
    assert json.loads(encode_member("x" * 300))["length"] == 300


class Intruder:
    def __init__(self, home: dict[str, Any]) -> None:
        self.home = home

    def __repr__(self) -> str:
        self.home[f"new {len(self.home)}"] = 1
        return "intruder"


def test_a_dict_that_changes_while_it_is_read_is_said_to_be_unreadable() -> None:
    """`append` never raises on odd values."""
    home: dict[str, Any] = {}
    home.update(first=Intruder(home), second=2)
    assert read(home) == {"$cut": "unreadable", "error": "RuntimeError"}


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
    | st.sampled_from(["\ud800", "\x7f", "\u2028", "😀", "\\ud800"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_what_is_encoded_at_once_is_what_the_walk_would_write(value: Any) -> None:
    """The short cut changes nothing but the time."""
    body = {"value": value}
    walked = to_json(Walk(WIDE).simplify(body), ensure_ascii=True).replace(b"\x7f", b"\\u007f")
    assert json.loads(encode(body)) == json.loads(walked)


def test_a_lone_surrogate_takes_the_walk() -> None:
    """Lone surrogates are refused by the parser, so they are never written."""
    for odd in ({"a": "\ud800"}, {"\ud800": 1}, {"a": {"b": ["x", "\udfff"]}}):
        written = json.dumps(json.loads(encode(odd)), ensure_ascii=False)
        assert written.encode("utf-8")
        assert "unreadable" not in written
