"""Any value becomes one line of strict JSON."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_audit import encoding
from amplifier_audit.encoding import (
    encode,
    encode_body,
    encode_member,
    encode_source,
    load_dump,
    load_short_dump,
)
from amplifier_audit.record import MEMBERS, parse_record
from amplifier_audit.strict_json import (
    BODY_LIMIT,
    KEY_LIMIT,
    NARROW,
    SAFE_INTEGER,
    SOURCE_LIMIT,
    read_json,
)
from tests.audit.support import LineCollector

SOURCE_MEMBERS = MEMBERS[5:11]
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
def without_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where pydantic_core is not installed."""
    monkeypatch.setitem(sys.modules, "pydantic_core", None)
    monkeypatch.setattr(encoding, "_dump", load_dump())
    monkeypatch.setattr(encoding, "_dump_short", load_short_dump())


def forget_sources() -> None:
    encoding._encode_place.cache_clear()
    encoding._encode_rest.cache_clear()


def count_sources() -> tuple[int, int]:
    """How many places and how many kinds of records are remembered."""
    caches = (encoding._encode_place, encoding._encode_rest)
    first, second = (cache.cache_info().currsize for cache in caches)
    return first, second


def read_source(source: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"{%b}" % source)
    return found


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


def test_without_pydantic_the_standard_library_encodes(without_pydantic: None) -> None:
    """The trail needs nothing but the standard library, to be written as well."""
    assert "pydantic" not in repr(load_dump())
    assert encode({"a": [1, "é", None]}) == b'{"a":[1,"\\u00e9",null]}'


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON_LIKE)
def test_the_standard_library_alone_writes_what_the_strict_parser_takes(
    without_pydantic: None, value: Any
) -> None:
    """Slower, but no other format."""
    assert type(read_json(encode_body({"value": value}))) is dict


def test_with_and_without_pydantic_the_same_is_written(
    request: pytest.FixtureRequest,
) -> None:
    """An auditor cannot tell where a log was written."""
    values: list[Any] = [
        {"a": 1, "b": [True, None, 0.5, "é\x7f\u2028😀"], "c": {"d": -1}},
        {"odd": float("nan"), "big": 2**70, "lone": "\ud800", "bytes": b"\xff"},
        {"long": "x" * 9000, "many": dict.fromkeys(map(str, range(500)))},
    ]
    fast = [encode_body(value) for value in values]
    assert "to_json" in repr(load_dump())
    request.getfixturevalue("without_pydantic")
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


def test_a_source_of_nothing_is_all_null() -> None:
    """A record need not come from a session, an event or a hook."""
    source = read_source(encode_source("dispatch", None, None, None, None, None))
    assert source == {**dict.fromkeys(SOURCE_MEMBERS), "type": "dispatch"}


def test_a_type_is_always_a_short_text() -> None:
    """Whatever a caller hands in."""
    sink = LineCollector()
    sink.append("x" * 999, {})
    sink.append(["odd"], {})
    assert [record["type"] for record in sink.records] == ["x" * KEY_LIMIT, "['odd']"]


def test_a_source_that_is_too_long_keeps_what_is_short_and_digests_the_rest() -> None:
    """One name of many bytes must not cost the others."""
    long = "\U0001f600" * KEY_LIMIT
    source = encode_source(long, "s1", 4, long, "guard", 7)
    assert len(source) <= SOURCE_LIMIT
    read = read_source(source)
    assert (read["session"], read["turn"], read["hook"], read["registration"]) == (
        "s1",
        4,
        "guard",
        7,
    )
    digest = hashlib.sha256(json.dumps(long).encode()).hexdigest()
    assert read["event"] == {"$cut": "member", "bytes": 12 * KEY_LIMIT + 2, "sha256": digest}
    assert long.startswith(read["type"])


ANY = st.none() | st.integers() | st.text() | st.floats() | st.lists(st.text(min_size=300))


@given(st.tuples(ANY, ANY, ANY, ANY, ANY, ANY))
def test_any_source_is_six_members_within_the_limit(members: Any) -> None:
    """`append` takes whatever it is given, and the line stays a record."""
    source = encode_source(*members)
    assert len(source) <= SOURCE_LIMIT
    read = read_source(source)
    assert tuple(read) == SOURCE_MEMBERS
    assert isinstance(read["type"], str)


@given(st.tuples(ANY, ANY, ANY, ANY, ANY, ANY), st.booleans())
def test_a_source_that_was_met_before_is_encoded_as_it_was(members: Any, foreign: bool) -> None:
    """Remembering changes nothing but the time."""
    first = encode_source(*members, foreign=foreign)
    forget_sources()
    assert encode_source(*members, foreign=foreign) == first
    assert encode_source(*members, foreign=foreign) == first


class Chameleon:
    """Equal to all of its kind, and never described alike."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return self.name


class Unhashable(str):
    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError("no")


def test_sources_that_only_seem_equal_are_kept_apart() -> None:
    """1 and True, tuples of them, and objects that claim to be equal."""
    for kind in (Chameleon("one"), Chameleon("two")):
        assert read_source(encode_source(kind, None, None, None, None, None))["type"] == kind.name
    pairs = [(1, True), (1, 1.0), ((1,), (True,)), (Chameleon("one"), Chameleon("two"))]
    for one, other in pairs:
        sources = [encode_source("t", None, turn, None, None, None) for turn in (one, other)]
        assert [read_source(source)["turn"] for source in sources] == [
            json.loads(encode_member(one)),
            json.loads(encode_member(other)),
        ]
        assert sources[0] != sources[1]


def test_a_source_that_cannot_be_hashed_is_encoded_all_the_same() -> None:
    """`append` does not raise because of a value."""
    source = encode_source(Unhashable("t"), Unhashable("s"), None, ["e"], None, None)
    assert (read_source(source)["type"], read_source(source)["session"]) == ("t", "s")
    assert read_source(source)["event"] == ["e"]


def test_what_is_remembered_of_sources_is_bounded() -> None:
    """Neither many sources nor a long one can fill the memory."""
    forget_sources()
    encode_source("t" * (KEY_LIMIT + 1), "x" * (KEY_LIMIT + 1), 10**99, None, None, None)
    encode_source("t", "😀" * KEY_LIMIT, None, "😀" * KEY_LIMIT, None, None)
    assert count_sources() == (0, 0)
    for number in range(3000):
        encode_source("t", "s", number, f"e{number}", None, None)
    assert count_sources() == (2048, 2048)


def test_a_new_turn_is_a_new_place_only() -> None:
    """What else a source says is not encoded again."""
    forget_sources()
    for turn in range(10):
        for event in ("tool:pre", "tool:post"):
            encode_source("dispatch", "s", turn, event, None, None)
    assert count_sources() == (10, 2)


def test_only_a_foreign_source_is_kept_from_speaking_for_the_log() -> None:
    """The log itself writes checkpoints; a caller of `append` does not."""
    given = ("checkpoint", None, None, None, None, None)
    for _ in range(2):
        assert read_source(encode_source(*given))["type"] == "checkpoint"
        assert read_source(encode_source(*given, foreign=True))["type"] == "x_checkpoint"
