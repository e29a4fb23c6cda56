"""A value of a bundle file that knows where it was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.yaml_files.node import (
    BundleError,
    Node,
    Place,
    Problem,
    find_broken,
    make_node,
    raise_problems,
    to_plain,
)

PLACE = Place("f.yaml", 3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    """Nodes add the place and lose nothing."""
    assert to_plain(make_node(value, PLACE)) == value


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem(PLACE, "hooks[0]", "is odd"), "f.yaml:3: hooks[0]: is odd"),
        (Problem(Place("plan"), "hooks", "is odd"), "plan: hooks: is odd"),
        (Problem(PLACE, "", "is odd"), "f.yaml:3: is odd"),
    ],
)
def test_a_problem_is_one_line(problem: Problem, text: str) -> None:
    """File, line, key, message; without what there is not."""
    assert str(problem) == text


def test_problems_are_raised_together_and_none_is_no_error() -> None:
    """One line each, in their order."""
    raise_problems(())
    first, second = Problem(PLACE, "a", "x"), Problem(PLACE, "b", "y")
    with pytest.raises(BundleError) as caught:
        raise_problems(one for one in (first, second))
    assert caught.value.problems == (first, second)
    assert str(caught.value).splitlines() == [str(first), str(second)]
    assert isinstance(caught.value, ValueError)


def test_what_stands_in_for_a_value_is_found_wherever_it_stands() -> None:
    """In lists, in mappings, and as the value itself."""
    problem = Problem(PLACE, "k", "is not set")
    broken = Node(problem, PLACE)
    nested = Node({"a": Node((broken, Node(1, PLACE)), PLACE), "b": broken}, PLACE)
    assert list(find_broken(nested)) == [problem, problem]
    assert list(find_broken(broken)) == [problem]
    assert list(find_broken(make_node({"a": [1]}, PLACE))) == []


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "a mapping"), ([], "a list"), ("x", "a text"), (True, "true or false"),
        (3, "a whole number"), (3.5, "a number"), (None, "nothing"), (b"x", "a value"),
    ],
)  # fmt: skip
def test_a_kind_has_a_name_that_people_use(value: Any, kind: str) -> None:
    """No Python words in messages."""
    assert make_node(value, PLACE).kind == kind


def test_asking_for_parts_of_something_else_finds_nothing() -> None:
    """Rules tell what is wrong; looking does not fail."""
    text = make_node("x", PLACE)
    assert (text.mapping(), text.items(), text.text("k")) == ({}, (), None)
    assert make_node({"k": 3}, PLACE).text("k") is None


def test_a_changed_mapping_is_another_node() -> None:
    """The one that was there stays as it was."""
    node = make_node({"a": 1, "b": 2}, PLACE)
    assert to_plain(node.with_key("a", Node(9, PLACE))) == {"a": 9, "b": 2}
    assert to_plain(node.without("a", "gone")) == {"b": 2}
    assert to_plain(node) == {"a": 1, "b": 2}
