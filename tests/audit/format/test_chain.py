"""The growing end of a log: sequence, links, clock, and the head from which it goes on."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import encode_body
from amplifier_audit.merkle import EMPTY_ROOT, Tree, hash_leaf
from amplifier_audit.record import (
    GENESIS,
    Chain,
    Head,
    make_log_id,
    parse_record,
    read_claimed_hash,
)
from tests.audit.support import make_lines, make_source

HASH = "ab" * 32
NODE = "cd" * 32
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def test_each_record_names_the_hash_of_the_one_before() -> None:
    """Sequences have no gap, all records name one log, and each links to its predecessor."""
    records = [parse_record(line) for line in make_lines(60)]
    assert [record["seq"] for record in records] == list(range(60))
    assert len({record["log"] for record in records}) == 1
    for before, after in itertools.pairwise(records):
        assert after["prev"] == before["hash"]


def test_a_chain_begins_with_the_hash_that_no_record_has() -> None:
    """The first record has nothing before it."""
    chain = Chain("ab")
    assert (chain.size, chain.hash) == (0, GENESIS)
    assert chain.head == Head()
    assert chain.head.compute_root() == EMPTY_ROOT


def test_a_line_states_the_hash_that_the_chain_goes_on_with() -> None:
    """What a line claims to be is what its successor links to."""
    chain = Chain("ab")
    for _ in range(3):
        line = chain.extend(make_source(), encode_body({}))
        assert line.endswith(b"\n")
        assert read_claimed_hash(line) == chain.hash


def test_the_tree_has_each_line_without_its_line_break_as_a_leaf() -> None:
    """So that anybody can compute the root from the file."""
    chain, tree = Chain("ab"), Tree()
    for _ in range(5):
        tree.push(hash_leaf(chain.extend(make_source(), encode_body({}))[:-1]))
    assert chain.tree.compute_root() == tree.compute_root()


@given(st.lists(st.booleans(), max_size=40) | st.integers(60, 140).map(lambda n: [False] * n))
def test_the_tree_is_the_same_whenever_it_is_asked_for(asked: list[bool]) -> None:
    """It grows when somebody wants it; nobody can tell."""
    chain, tree = Chain("ab"), Tree()
    for now in asked:
        tree.push(hash_leaf(chain.extend(make_source(), encode_body({}))[:-1]))
        if now:
            assert chain.head == Head(tree.size, chain.hash, tree.frontier)
    assert chain.size == chain.tree.size == len(asked)
    assert chain.tree.compute_root() == tree.compute_root()


def test_monotonic_time_never_goes_back_and_stays_exact_in_json() -> None:
    """It orders records even when somebody sets the clock."""
    times = [parse_record(line)["mono"] for line in make_lines(20)]
    assert times == sorted(times)
    assert times[-1] < 2**53


def read_times(moments: list[int]) -> list[str]:
    """The times of records that came at these moments, in nanoseconds since 1970."""
    lines = Chain("ab").extend_all([(make_source(), b"{}", moment, 0) for moment in moments])
    return [parse_record(line)["time"] for line in lines]


def test_the_time_of_a_record_is_what_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked once for each record."""
    times = iter([1_000_000_001, 2_000_000_000])
    monkeypatch.setattr("amplifier_audit.record.time.time_ns", lambda: next(times))
    chain = Chain("ab")
    lines = [chain.extend(make_source(), encode_body({})) for _ in range(2)]
    assert [parse_record(line)["time"] for line in lines] == [
        "1970-01-01T00:00:01.000000001Z",
        "1970-01-01T00:00:02.000000000Z",
    ]


def test_the_time_has_nanoseconds_and_a_zone() -> None:
    """Times are in UTC, with nine digits after the second."""
    assert read_times([1_000_000_001, 1_999_999_999, 2_000_000_000]) == [
        "1970-01-01T00:00:01.000000001Z",
        "1970-01-01T00:00:01.999999999Z",
        "1970-01-01T00:00:02.000000000Z",
    ]


@given(st.lists(st.integers(0, 4 * 10**18), min_size=1, max_size=8))
def test_the_time_is_right_whichever_way_time_goes(moments: list[int]) -> None:
    """What is remembered of one second never shows in another one."""
    for moment, told in zip(moments, read_times(moments), strict=True):
        whole = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment // 10**9)
        assert told == f"{whole:%Y-%m-%dT%H:%M:%S}.{moment % 10**9:09d}Z"


@given(st.lists(st.integers(0, 200), max_size=5))
def test_records_are_chained_alike_one_by_one_and_many_at_once(counts: list[int]) -> None:
    """How many come together does not show."""
    many, single = Chain("ab"), Chain("ab")
    moments = itertools.count(10**18, 10**8)
    for count in counts:
        records = [(make_source(), b'{"n":%d}' % n, next(moments), n) for n in range(count)]
        lines = many.extend_all(records)
        assert lines == [line for one in records for line in single.extend_all([one])]
        assert many.head == single.head


def test_an_empty_line_is_as_long_as_it_is_said_to_be() -> None:
    """So that the size of a segment is known before its lines are made."""
    chain = Chain("ab")
    for _ in range(12):
        expected = chain.measure_line()
        assert len(chain.extend(b"", b"")) == expected


def test_a_head_goes_on_where_the_chain_was() -> None:
    """A head that was saved as JSON is all that is needed to continue."""
    chain = Chain("ab")
    for _ in range(11):
        chain.extend(make_source(), encode_body({}))
    copy = Chain("ab", Head.from_dict(json.loads(json.dumps(chain.head.to_dict()))))
    assert copy.head == chain.head
    assert copy.head.compute_root() == chain.tree.compute_root()
    assert parse_record(copy.extend(make_source(), encode_body({})))["seq"] == 11


@pytest.mark.parametrize(
    "data",
    [
        {},
        None,
        {"size": 1, "hash": HASH, "frontier": []},
        {"size": 1, "hash": HASH, "frontier": ["zz"]},
        {"size": 1, "hash": HASH, "frontier": [5]},
        {"size": "x", "hash": HASH, "frontier": []},
        {"size": float("inf"), "hash": HASH, "frontier": []},
        {"size": -1, "hash": HASH, "frontier": [NODE]},
        {"size": 0, "hash": HASH, "frontier": None},
        {"size": 0, "hash": "", "frontier": []},
        {"size": 0, "hash": "é" * 64, "frontier": []},
        {"size": 0, "hash": HASH.upper(), "frontier": []},
    ],
)
def test_what_is_no_head_is_refused(data: Any) -> None:
    """A forged or damaged head is one ValueError, whatever is wrong with it."""
    with pytest.raises(ValueError, match="Not the head of a log"):
        Head.from_dict(data)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "size": st.integers(-5, 5) | JSON,
            "hash": st.just(HASH) | JSON,
            "frontier": st.lists(st.just(NODE), max_size=3) | JSON,
        },
    )
)
def test_any_json_is_a_head_or_a_value_error(data: dict[str, Any]) -> None:
    """No other exception escapes, and what passes can be continued."""
    try:
        head = Head.from_dict(data)
    except ValueError:
        return
    assert Chain("ab", head).extend(make_source(), encode_body({})).endswith(b"\n")


def test_two_logs_do_not_get_the_same_id() -> None:
    """An id is random and fits into a line as it is."""
    ids = {make_log_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(len(one) == 32 and int(one, 16) >= 0 for one in ids)


def test_the_monotonic_time_is_told_in_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """In nanoseconds it would soon be more than JSON numbers hold exactly."""
    monkeypatch.setattr("amplifier_audit.record.time.monotonic_ns", lambda: 5_000_999)
    line = Chain("a" * 32).extend(make_source(), b"{}")
    assert b'"mono":5000,' in line
