"""What differs between the data before the hooks and after them."""

from __future__ import annotations

from amplifier_hooks.cli.commands.hooks.data_change import DataChange, describe_changes


def test_only_what_differs_is_named_as_deep_as_both_sides_agree() -> None:
    """Fields by their path, items of lists of the same length by their place."""
    before = {"a": 1, "b": {"c": [1, {"d": 2}], "e": "x"}, "f": [1]}
    after = {"a": 1, "b": {"c": [1, {"d": 3}], "e": "x"}, "f": [1, 2]}
    assert list(describe_changes(before, after)) == [
        DataChange("b.c[1].d", "2", "3"),
        DataChange("f", "[1]", "[1, 2]"),
    ]
    assert list(describe_changes(before, before)) == []


def test_a_field_that_came_or_went_is_called_that() -> None:
    """None is a value like any other."""
    changes = describe_changes({"old": 1, "same": None}, {"same": "x", "new": None})
    assert [f"{one.field} {one}" for one in changes] == [
        "old removed: 1",
        'same null → "x"',
        "new added: null",
    ]


def test_of_a_long_value_the_place_is_shown_where_it_differs() -> None:
    """A secret in the middle of a file is not lost among the rest."""
    (change,) = describe_changes({"text": "a" * 500 + "KEY" + "b" * 500}, {"text": "a" * 500 + "*"})
    assert "aKEYbbb" in change.before
    assert change.after.endswith('a*"')
    assert change.before.startswith("…")
    assert len(change.before) < 130


def test_values_that_json_cannot_hold_are_shown_all_the_same() -> None:
    """A hook may put anything into the data."""
    (change,) = describe_changes({"a": 1}, {"a": {(1, 2): 3}})
    assert str(change) == "1 → {(1, 2): 3}"
