"""Any value is reduced to what JSON knows, whatever its own methods do."""

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

from amplifier_audit.encoding import (
    Walk,
    describe_error,
    digest_text,
    escape_surrogates,
    safe_repr,
)
from amplifier_audit.strict_json import NARROW, WIDE, Limits


def simplify(value: Any, limits: Limits = WIDE) -> Any:
    return Walk(limits).simplify(value)


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


class Fraction(float):
    pass


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


class Point(BaseModel):
    x: int = 1


class Shifting(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("changed during iteration")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


ODD: list[tuple[Any, Any]] = [
    (float("nan"), {"$float": "nan"}),
    (float("inf"), {"$float": "inf"}),
    (float("-inf"), {"$float": "-inf"}),
    (1.5, 1.5),
    (Fraction(0.5), 0.5),
    ("a\ud800b", "a\\ud800b"),
    ("a\u2028b\r\n\0\ufeff\x7f", "a\u2028b\r\n\0\ufeff\x7f"),
    (2**53, 2**53),
    (2**53 + 1, {"$int": hex(2**53 + 1)}),
    (-(2**60), {"$int": hex(-(2**60))}),
    (10**5000, {"$int": None, "bits": (10**5000).bit_length()}),
    (Colour.RED, "red"),
    (Rank.ONE, 1),
    (Text("x"), "x"),
    (Number(5), 5),
    (Number(2**60), {"$int": hex(2**60)}),
    (Point(), {"x": 1}),
    ((1, {2}), [1, [2]]),
    (frozenset(), []),
    (OrderedDict(a=1), {"a": 1}),
    (KeyError("k"), {"$error": "KeyError: 'k'"}),
    (ValueError(), {"$error": "ValueError"}),
    (Mute("never shown"), {"$error": "Mute"}),
    (Path("/x"), {"$object": "PosixPath", "repr": "PosixPath('/x')"}),
    (Liar(), {"$object": "Liar", "error": "ValueError"}),
    (Shifting(a=1), {"$object": "Shifting", "error": "RuntimeError"}),
    ({1: "a", "1": "b", None: "c"}, {"1": "a", "1#2": "b", "None": "c"}),
    (
        bytearray(b"\xff\x00"),
        {"$bytes": "ff00", "length": 2, "sha256": hashlib.sha256(b"\xff\x00").hexdigest()},
    ),
]


@pytest.mark.parametrize(("value", "expected"), ODD, ids=[str(n) for n in range(len(ODD))])
def test_odd_values_are_told_by_what_they_are(value: Any, expected: Any) -> None:
    """Numbers that JSON lacks, bytes, exceptions, models, enumerations, arbitrary objects."""
    assert simplify(value) == expected
    assert simplify({"inside": [value]}) == {"inside": [expected]}


def test_an_object_whose_repr_raises_is_named() -> None:
    """The trail outlives any object that it describes."""
    assert simplify(Loud())["$object"] == "Loud"
    assert "RuntimeError" in simplify(Loud())["repr"]


def test_a_cycle_is_cut_where_it_closes() -> None:
    """A dict that holds itself ends, and the cut says why."""
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    assert simplify(value) == {"a": 1, "self": {"$cut": "cycle", "members": 2}}


def test_a_value_that_is_met_twice_without_a_cycle_is_kept_twice() -> None:
    """Only what contains itself is a cycle."""
    shared = [1]
    assert simplify([shared, shared]) == [[1], [1]]


def test_a_web_of_references_stays_within_the_node_limit() -> None:
    """Fifty to the power of twelve entries would never end."""
    level: Any = "leaf"
    for _ in range(12):
        level = [level] * 50
    written = json.dumps(simplify(level))
    assert len(written) < 200_000
    assert '"$cut": "nodes"' in written


def test_great_depth_is_cut() -> None:
    """Ten thousand levels do not exhaust the stack."""
    value: Any = 1
    for _ in range(10_000):
        value = {"d": value}
    assert '{"$cut": "depth", "members": 1}' in json.dumps(simplify(value))


def test_a_million_keys_are_counted_and_the_first_kept() -> None:
    """What is left out is counted."""
    found = simplify(dict.fromkeys(map(str, range(1_000_000))))
    assert found["$cut"] == {"members": 1_000_000, "kept": 256}
    assert len(found) == 257


def test_the_mark_of_a_cut_does_not_replace_a_key_of_that_name() -> None:
    """A caller cannot hide that something was left out."""
    found = simplify({"$cut": "mine", **dict.fromkeys(map(str, range(300)))})
    assert found["$cut"] == "mine"
    assert found["$cut#2"] == {"members": 301, "kept": 256}


def test_a_long_list_ends_with_its_count() -> None:
    """The first entries stay, and the last one says how many there were."""
    found = simplify(list(range(300)))
    assert found[:-1] == list(range(256))
    assert found[-1] == {"$cut": "members", "members": 300, "kept": 256}


def test_a_text_of_100_mb_becomes_digest_and_length_without_being_copied() -> None:
    """A large result of a tool costs time, not memory."""
    text = "x" * 100_000_000
    tracemalloc.start()
    cut = simplify({"output": text})["output"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert cut["length"] == 100_000_000
    assert cut["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert cut["head"] == "x" * 200
    assert peak < 10_000_000


@given(st.text(st.characters(codec="utf-8"), max_size=50))
def test_the_digest_of_a_cut_text_is_that_of_its_utf_8(text: str) -> None:
    """Anybody who has the text can check that it is the one."""
    cut = digest_text(text)
    assert cut["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (cut["length"], cut["head"]) == (len(text), text[:200])


def test_long_keys_are_cut_and_stay_apart() -> None:
    """Two keys with the same beginning are still two."""
    keys = list(simplify({"k" * 999 + "a": 1, "k" * 999 + "b": 2}))
    assert len(set(keys)) == 2
    assert all(len(key) < 300 for key in keys)


def test_keys_with_surrogates_that_would_collide_stay_apart() -> None:
    """No two members of an object get the same key."""
    assert list(simplify({"\ud800": 1, "\\ud800": 2}).values()) == [1, 2]


class Intruder:
    def __init__(self, home: dict[str, Any]) -> None:
        self.home = home

    def __repr__(self) -> str:
        self.home[f"new {len(self.home)}"] = 1
        return "intruder"


def test_a_dict_that_changes_while_it_is_read_raises_what_python_raises() -> None:
    """Whoever encodes has to expect that; a mapping deeper inside is named instead."""
    home: dict[str, Any] = {}
    home.update(first=Intruder(home), second=2)
    with pytest.raises(RuntimeError):
        simplify(home)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=25,
    ),
    st.sampled_from([WIDE, NARROW, Limits(text=3, members=2, depth=2, nodes=4)]),
)
def test_the_result_is_json_within_the_limits(value: Any, limits: Limits) -> None:
    """However small the limits, what comes out is plain and can be encoded in UTF-8."""
    found = simplify(value, limits)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    json.dumps(found, ensure_ascii=False).encode()


@given(st.text(st.characters(exclude_categories=())))
def test_surrogates_are_spelled_out_and_all_else_stays(text: str) -> None:
    """A reader sees which surrogate it was."""
    found = escape_surrogates(text)
    assert found.encode().decode() == found
    if not any("\ud800" <= one <= "\udfff" for one in text):
        assert found == text


def test_a_repr_that_fails_is_replaced_by_a_sentence() -> None:
    """And one that works is left alone."""
    assert safe_repr([1]) == "[1]"
    assert safe_repr(Loud()) == "<Loud whose repr raised RuntimeError>"


def test_an_exception_is_told_by_type_and_message() -> None:
    """Even one that cannot be printed."""
    assert describe_error(ValueError("why")) == "ValueError: why"
    assert describe_error(Mute()) == "Mute"
