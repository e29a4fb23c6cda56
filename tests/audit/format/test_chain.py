"""The growing end of a log: sequence, links, clock, and the head from which it goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import encode_body
from amplifier_audit.merkle import Tree, hash_leaf
from amplifier_audit.record import (
    Chain,
    Head,
    parse_record,
)
from tests.audit.support import make_lines, make_source

HASH = "ab" * 32
NODE = "cd" * 32
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def test_the_tree_has_each_line_without_its_line_break_as_a_leaf() -> None:
    """So that anybody can compute the root from the file."""
    chain, tree = Chain("ab"), Tree()
    for _ in range(5):
        tree.push(hash_leaf(chain.extend(make_source(), encode_body({}))[:-1]))
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
