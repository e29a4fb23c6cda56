"""Any value becomes one line of strict JSON."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_audit.format import encoding
from amplifier_audit.format.encoding import encode, encode_body, encode_member, find_fast_encoder
from amplifier_audit.format.limits import BODY_LIMIT, KEY_LIMIT, NARROW, SAFE_INTEGER
from amplifier_audit.format.record import parse_record
from amplifier_audit.format.strict_json import read_json
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


@pytest.fixture
def without_fast_encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where pydantic_core is not installed."""
    find_fast_encoder.cache_clear()
    encoding._encode_short_text.cache_clear()
    monkeypatch.setitem(sys.modules, "pydantic_core", None)
    monkeypatch.delitem(sys.modules, "amplifier_audit.format.fast_encoding", raising=False)
    monkeypatch.delattr("amplifier_audit.format.fast_encoding", raising=False)
    yield
    monkeypatch.undo()
    find_fast_encoder.cache_clear()
    encoding._encode_short_text.cache_clear()


@given(JSON_LIKE)
def test_any_value_becomes_a_record_that_the_strict_parser_takes(value: Any) -> None:
    """One line of printable ASCII, whatever the value is."""
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
    assert json.loads(encode(value)) == value


def test_without_the_fast_encoder_there_is_none(without_fast_encoder: None) -> None:
    """The trail needs nothing but the standard library, to be written as well."""
    assert find_fast_encoder() is None
    assert encode({"a": [1, "é", None]}) == b'{"a":[1,"\\u00e9",null]}'


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON_LIKE)
def test_the_standard_library_alone_writes_what_the_strict_parser_takes(
    without_fast_encoder: None, value: Any
) -> None:
    """Slower, but no other format."""
    assert find_fast_encoder() is None
    assert type(read_json(encode_body({"value": value}))) is dict


def test_with_and_without_the_fast_encoder_the_same_is_written(
    request: pytest.FixtureRequest,
) -> None:
    """An auditor cannot tell where a log was written."""
    values: list[Any] = [
        {"a": 1, "b": [True, None, 0.5, "é\x7f\u2028😀"], "c": {"d": -1}},
        {"odd": float("nan"), "big": 2**70, "lone": "\ud800", "bytes": b"\xff"},
        {"long": "x" * 9000, "many": dict.fromkeys(map(str, range(500)))},
    ]
    fast = [encode_body(value) for value in values]
    assert find_fast_encoder() is not None
    request.getfixturevalue("without_fast_encoder")
    assert [encode_body(value) for value in values] == fast


@pytest.mark.parametrize("texts", [8, 400])
def test_a_body_that_is_too_large_is_narrowed(texts: int) -> None:
    """Its members stay, with less of each."""
    narrowed = encode_body({f"k{n}": "é" * 8000 for n in range(texts)})
    assert len(narrowed) <= BODY_LIMIT
    assert json.loads(narrowed)["k0"]["length"] == 8000


def test_a_body_that_fits_in_no_form_becomes_its_digest() -> None:
    """Then only how much it was, and which, is kept."""
    body = {f"k{n}": {f"j{m}": "\x01" * 256 for m in range(32)} for n in range(32)}
    text = encode(body, NARROW)
    assert json.loads(encode_body(body)) == {
        "$cut": "record",
        "bytes": len(text),
        "sha256": hashlib.sha256(text).hexdigest(),
    }


@pytest.mark.parametrize("width", [1, 20, 30])
def test_no_body_is_longer_than_its_limit(width: int) -> None:
    """Whichever of the three forms it takes."""
    body = {f"k{n}": {f"j{m}": "\x01" * 255 for m in range(width)} for n in range(width)}
    assert len(encode_body(body)) <= BODY_LIMIT


def test_a_body_that_is_no_mapping_is_wrapped() -> None:
    """The body of a record is always an object."""
    assert json.loads(encode_body([1])) == {"value": [1]}
    assert json.loads(encode_body(None)) == {"value": None}


class Shifting(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("changed during iteration")


def test_a_mapping_that_fails_while_it_is_read_is_named() -> None:
    """`append` does not raise because of a value."""
    shown = {"$object": "Shifting", "error": "RuntimeError"}
    assert json.loads(encode({"m": Shifting(a=1)})) == {"m": shown}
    assert json.loads(encode_body(Shifting(a=1))) == shown


class Intruder:
    def __init__(self, home: dict[str, Any]) -> None:
        self.home = home

    def __repr__(self) -> str:
        self.home[f"new {len(self.home)}"] = 1
        return "intruder"


def test_a_dict_that_changes_while_it_is_read_is_said_to_be_unreadable() -> None:
    """Another thread may change a body while it is written down."""
    home: dict[str, Any] = {}
    home.update(first=Intruder(home), second=2)
    assert json.loads(encode(home)) == {"$cut": "unreadable", "error": "RuntimeError"}


def test_members_of_the_line_take_odd_values_too() -> None:
    """A session, a hook or a turn may be anything."""
    assert encode_member(None) == b"null"
    assert encode_member(7) == b"7"
    assert encode_member(True) == b"true"
    assert encode_member("s\n") == b'"s\\n"'
    assert encode_member(2**60) == b'{"$int":"0x1000000000000000"}'
    assert encode_member(float("nan")) == b'{"$float":"nan"}'
    assert encode_member("x" * KEY_LIMIT) == b'"%b"' % (b"x" * KEY_LIMIT)
    assert json.loads(encode_member("x" * 300))["length"] == 300


def test_a_delete_character_is_escaped() -> None:
    """JSON would leave it as it is, and a terminal would act on it."""
    assert encode({"a\x7f": "\x7f"}) == b'{"a\\u007f":"\\u007f"}'


def test_a_lone_surrogate_is_spelled_out() -> None:
    """The parser refuses one, so none is ever written."""
    for odd in ({"a": "\ud800"}, {"\ud800": 1}, {"a": {"b": ["x", "\udfff"]}}):
        written = json.dumps(json.loads(encode(odd)), ensure_ascii=False)
        assert written.encode("utf-8")
        assert "unreadable" not in written
