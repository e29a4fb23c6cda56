"""Rules made of other rules."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.agent.bundles.container_rules import (
    either,
    listing,
    mapping,
    optional,
    several,
    table,
)
from amplifier_hooks.agent.bundles.rule import Rule
from amplifier_hooks.agent.bundles.value_rules import boolean, integer, text
from amplifier_hooks.yaml_files.node import Node, Place, Problem, make_node

PLACE = Place("f")
PERSON = mapping({"name": text, "age": integer(0)}, required=["name"])


def problems(rule: Rule, value: Any) -> list[str]:
    return [f"{one.key}: {one.message}" for one in rule(make_node(value, PLACE), "k")]


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        (optional(text), None, []),
        (several(text), ["x", "y"], []),
        (several(text), [], ["k: must not be empty"]),
        (several(text), "x", ["k: must be a list, got a text 'x'"]),
        (several(text), ["x", 3], ["k[1]: must be a text, got a whole number 3"]),
        (optional(text), "x", []),
        (optional(text), 3, ["k: must be a text, got a whole number 3"]),
        (either(text, boolean, "a or b"), "x", []),
        (either(text, boolean, "a or b"), True, []),
        (either(text, boolean, "a or b"), 3, ["k: must be a or b, got a whole number 3"]),
        (listing(text), [], []),
        (listing(text), ["a", 3], ["k[1]: must be a text, got a whole number 3"]),
        (listing(text), "ab", ["k: must be a list, got a text 'ab'"]),
        (listing(listing(text)), [["a"], [0]], ["k[1][0]: must be a text, got a whole number 0"]),
        (table(text), {}, []),
        (table(text), {"a": "x", "b": 3}, ["k.b: must be a text, got a whole number 3"]),
        (table(text), ["a"], ["k: must be a mapping, got a list"]),
        (PERSON, {"name": "x", "age": 3}, []),
        (PERSON, {}, ["k.name: is missing; k needs it"]),
        (PERSON, {"nam": "x"}, ["k.nam: unknown key 'nam'; did you mean 'name'?"]),
        (
            PERSON,
            {"zzz": 1},
            ["k.zzz: unknown key 'zzz'; have age, name", "k.name: is missing; k needs it"],
        ),
        (
            PERSON,
            {"name": "", "age": -1},
            ["k.name: must not be empty", "k.age: must be at least 0, got -1"],
        ),
        (PERSON, None, ["k: must be a mapping, got nothing"]),
        (mapping({"a": text}, prefix="x-"), {"a": "b", "x-own": 3}, []),
        (mapping({"a": text}), {"x-own": 3}, ["k.x-own: unknown key 'x-own'; have a"]),
    ],
)
def test_each_rule_says_where_its_parts_are_wrong(
    rule: Rule, value: Any, expected: list[str]
) -> None:
    """The key leads to the part; a misspelt key is not also told as missing."""
    assert problems(rule, value) == expected


@pytest.mark.parametrize(
    ("rule", "shape"),
    [(listing(text), "list"), (table(text), "mapping"), (mapping({"a": text}), "mapping")],
)
def test_a_problem_that_stands_for_a_value_is_left_for_later(rule: Rule, shape: str) -> None:
    """A layer above may still replace it; only what is left after merging counts."""
    broken = Node(Problem(PLACE, "k.a", "is not set"), PLACE)
    holder = Node((broken,) if shape == "list" else {"a": broken}, PLACE)
    assert list(rule(holder, "k")) == []


def test_at_the_top_a_key_stands_alone() -> None:
    """No dot before the first key of a document."""
    [problem] = mapping({"a": text})(make_node({"a": 1}, PLACE), "")
    assert problem.key == "a"
