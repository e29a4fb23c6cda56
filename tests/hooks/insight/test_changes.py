"""How two values differ, and a change that is repeated."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.insight.changes import MOST_LEVELS, Change, find_changes, repeat_change


@pytest.mark.parametrize(
    ("then", "now", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}}, [("b.c", 2, 3)]),
        ({"a": 1}, {"b": 2}, [("a", 1, "-"), ("b", "-", 2)]),
        ([{"x": 1}, 2], [{"x": 5}, 2], [("[0].x", 1, 5)]),
        ({"a": [1]}, {"a": [1, 2]}, [("a", [1], [1, 2])]),
        ({"a": {"b": 1}}, {"a": [1]}, [("a", {"b": 1}, [1])]),
        (1, 2, [("", 1, 2)]),
    ],
)
def test_fields_are_compared_as_deep_as_both_have_the_same_shape(
    then: Any, now: Any, found: list[tuple[str, Any, Any]]
) -> None:
    """A value of another shape is one change; what one side lacks is named as the caller says."""
    assert list(find_changes(then, now, missing="-")) == [Change(*one) for one in found]


def test_what_counts_as_the_same_is_up_to_the_caller() -> None:
    """At every level."""

    def ignore_case(one: Any, other: Any) -> bool:
        return str(one).lower() == str(other).lower()

    (change,) = find_changes({"a": "X", "b": "Y"}, {"a": "x", "b": "z"}, is_same=ignore_case)
    assert change == Change("b", "Y", "z")


def test_what_is_nested_without_end_is_compared_as_a_whole() -> None:
    """A forged record ends nothing."""
    then: dict[str, Any] = {}
    now: dict[str, Any] = {"x": 1}
    for _ in range(MOST_LEVELS + 50):
        then, now = {"a": then}, {"a": now}
    (change,) = find_changes(then, now)
    assert change.field == ".".join(["a"] * MOST_LEVELS)
    (change,) = find_changes(then, now, levels=2)
    assert change.field == "a.a"


def test_a_change_is_repeated_on_other_data() -> None:
    """Fields that the hooks added, changed and removed; the others stay as they are now."""
    before = {"kept": 1, "changed": 1, "removed": 1}
    after = {"kept": 1, "changed": 2, "added": None}
    data = {"kept": 9, "changed": 1, "removed": 1, "new": 3}
    assert repeat_change(before, after, data) == {
        "kept": 9,
        "changed": 2,
        "new": 3,
        "added": None,
    }
