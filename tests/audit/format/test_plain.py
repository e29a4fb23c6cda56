"""Which values are plain: those that the walk leaves as they are, but for numbers and texts."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import Walk, is_plain
from amplifier_audit.strict_json import WIDE
from tests.audit.format.odd_texts import Name, Twin


class Colour(Enum):
    RED = "red"


class Thing:
    def __init__(self) -> None:
        self.itself = self


NOTHING = st.sampled_from([{}, [], [[]], {"a": {}}])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(-5, 5)
    | st.text("ab", max_size=3)
    | NOTHING
    | st.sampled_from([Name("n"), b"b", (1,), {1}, 1j, Colour.RED, Decimal(1), OrderedDict(a=1)]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text("ab", max_size=3)
            | st.sampled_from([1, True, None, 1.5, (1,), b"k", Name("k"), Twin("k")]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


def define_plain(value: Any) -> bool:
    """The same, as a person would write it down."""
    kind = type(value)
    if kind is dict:
        return all(type(key) is str and define_plain(entry) for key, entry in value.items())
    if kind is list:
        return all(map(define_plain, value))
    return kind in (str, int, float, bool, type(None))


@given(VALUES, st.sampled_from([0, 20]))
def test_a_value_is_plain_if_everything_in_it_is(value: Any, more: int) -> None:
    """Exactly these types, at any level, as keys and as values; among many containers too."""
    assert is_plain({"value": value, "more": [{"n": n} for n in range(more)]}) == define_plain(
        value
    )


@given(VALUES, st.integers(10, 17))
def test_a_plain_value_is_one_that_the_walk_leaves_as_it_is(value: Any, depth: int) -> None:
    """Also about as deep as the walk goes."""
    for _ in range(depth):
        value = {"d": value}
    if is_plain(value):
        assert Walk(WIDE).simplify(value) == value


def nest(depth: int, inside: Any) -> dict[str, Any]:
    value: Any = inside
    for _ in range(depth):
        value = {"d": value}
    assert type(value) is dict
    return value


@pytest.mark.parametrize("inside", [{}, [], {"a": 1}, [1]])
def test_what_the_walk_would_cut_at_its_depth_is_not_plain(inside: Any) -> None:
    """An empty container counts as one."""
    assert is_plain(nest(WIDE.depth - 2, inside))
    assert not is_plain(nest(WIDE.depth, inside))


def test_a_container_that_contains_itself_is_not_plain() -> None:
    """The look comes to an end."""
    circle: dict[str, Any] = {}
    circle["circle"] = [circle, circle]
    assert not is_plain(circle)
    assert not is_plain({"thing": Thing(), "module": pytest, "type": dict, "code": nest})


def test_a_value_that_holds_the_same_container_very_often_is_not_plain() -> None:
    """It is small in memory and would be endless in JSON."""
    value: list[Any] = []
    for _ in range(WIDE.depth - 3):
        value = [value] * 8
    assert not is_plain({"value": value})


def test_too_many_members_are_not_plain() -> None:
    """At the top, below, or in all."""
    many = dict.fromkeys(map(str, range(WIDE.members)))
    assert is_plain(many)
    assert is_plain({"a": many})
    assert not is_plain({**many, "more": 1})
    assert not is_plain({"a": {**many, "more": 1}})
    assert not is_plain({"a": [0] * (WIDE.members + 1)})
    assert is_plain({"a": [[0]] * WIDE.members})
    assert not is_plain({"a": [[0]] * (WIDE.members + 1)})
    assert not is_plain({"a": [[0, 0]] * (WIDE.members // 2 + 1)})
    wide: Any = {"a": [0] * (WIDE.members - 1)}
    for _ in range(9):
        wide = {"a": wide, **dict.fromkeys(map(str, range(WIDE.members - 1)))}
    assert not is_plain(wide)


@pytest.mark.parametrize("key", [1, True, None, 1.5, (1,), b"k", Name("k"), Twin("k")])
def test_a_key_that_is_not_exactly_a_text_is_not_plain(key: Any) -> None:
    """Two of them might be the same in JSON."""
    many = [{"a": 1}] * 20
    for value in (
        {key: 1},
        {"a": 1, key: 1},
        {"a": [{"b": 1}, {key: 1}]},
        {"a": [*many, {key: 1}]},
    ):
        assert not is_plain(value)
    assert not is_plain({Twin("k"): 1, Twin("k"): 2})


def test_a_dict_that_had_another_key_may_be_walked_but_never_misread() -> None:
    """What Python remembers of it shows at most as caution."""
    value: dict[Any, Any] = {"a": datetime(2026, 1, 1, tzinfo=UTC)}
    value[1] = 2
    del value[1]
    assert not is_plain(value)
