"""Documents against models: each mistake is one sentence, with its key and what would do."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from amplifier_core.mount_plan.schema import (
    Count,
    Expected,
    PositiveCount,
    Seconds,
    Section,
    Switch,
    Text,
    optional,
)
from amplifier_hooks.yaml_files.checking import find_mistakes, refuse_kind
from amplifier_hooks.yaml_files.node import Node, Place, Problem, make_node

PLACE = Place("f")
BROKEN = Node(Problem(PLACE, "k.a", "is not set"), PLACE)


class Person(Section):
    """A mapping in a mapping."""

    name: Text
    age: Count = optional("Years.")


class Document(Section):
    """A value of each kind."""

    text: Text = optional("")
    any_text: str = optional("")
    boolean: bool = optional("")
    switch: Switch = optional("")
    integer: int = optional("")
    positive: PositiveCount = optional("")
    seconds: Seconds = optional("")
    mode: Literal["ask", "deny"] = optional("")
    maybe: Text | None = optional("")
    several: Annotated[list[Text], Field(min_length=1)] = optional("")
    texts: list[Text] = optional("")
    nested: list[list[Text]] = optional("")
    table: dict[str, Text] = optional("")
    free: dict[str, Any] = optional("")
    either: Annotated[Text | list[bool], Expected("a or b")] = optional("")
    person: Person = optional("")
    persons: dict[str, Person] = optional("")
    maybe_persons: list[Person] | None = optional("")
    name_or_person: Annotated[Text | Person, Expected("a name or a person")] = optional("")


def check(**keys: Any) -> list[str]:
    return [f"{one.key}: {one.message}" for one in find_mistakes(make_node(keys, PLACE), Document)]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("text", ["x", " x ", "\ud800"]),
        ("any_text", ["", "x"]),
        ("boolean", [True, False]),
        ("switch", [True, False, None]),
        ("integer", [0, -5, 10**20]),
        ("positive", [1, 2]),
        ("seconds", [1, 0.001, 1e9]),
        ("mode", ["ask", "deny"]),
        ("maybe", ["x", None]),
        ("several", [["x", "y"]]),
        ("texts", [[], ["x"]]),
        ("table", [{}, {"a": "x"}]),
        ("free", [{}, {"a": [1, {"b": None}]}]),
        ("either", ["x", [True]]),
        ("person", [{"name": "x", "age": 3}, {"name": "x"}]),
        ("x-own", [3, None, {"a": 1}]),
    ],
)
def test_a_right_value_is_no_mistake(key: str, values: list[Any]) -> None:
    """Nothing is said about it."""
    assert [check(**{key: value}) for value in values] == [[]] * len(values)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("text", "", "must not be empty"),
        ("text", " \n", "must not be empty"),
        ("text", 3, "must be a text, got a whole number 3"),
        ("any_text", 3, "must be a text, got a whole number 3"),
        ("boolean", "yes", "must be true or false, got a text 'yes'"),
        ("boolean", None, "must be true or false, got nothing"),
        ("switch", "true", "must be true or false, got a text 'true'"),
        ("integer", True, "must be a whole number, got true or false True"),
        ("integer", 1.0, "must be a whole number, got a number 1.0"),
        ("positive", 0, "must be at least 1, got 0"),
        ("seconds", 0, "must be positive and finite, got 0"),
        ("seconds", -1.5, "must be positive and finite, got -1.5"),
        ("seconds", float("inf"), "must be positive and finite, got inf"),
        ("seconds", float("nan"), "must be positive and finite, got nan"),
        ("seconds", True, "must be a number of seconds, got true or false True"),
        ("seconds", "5s", "must be a number of seconds, got a text '5s'"),
        ("mode", "denny", "unknown value 'denny'; did you mean 'deny'?"),
        ("mode", "xyzzy", "unknown value 'xyzzy'; have ask, deny"),
        ("mode", 3, "must be one of ask, deny, got a whole number 3"),
        ("maybe", 3, "must be a text, got a whole number 3"),
        ("several", [], "must not be empty"),
        ("several", "x", "must be a list, got a text 'x'"),
        ("texts", "ab", "must be a list, got a text 'ab'"),
        ("table", ["a"], "must be a mapping, got a list"),
        ("either", 3, "must be a or b, got a whole number 3"),
        ("either", [3], "must be a or b, got a list"),
        ("person", None, "must be a mapping, got nothing"),
    ],
)
def test_a_wrong_value_is_told_with_what_would_do(key: str, value: Any, message: str) -> None:
    """Each mistake is one problem with one sentence."""
    assert check(**{key: value}) == [f"{key}: {message}"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"several": ["x", 3]}, ["several[1]: must be a text, got a whole number 3"]),
        ({"nested": [["a"], [0]]}, ["nested[1][0]: must be a text, got a whole number 0"]),
        ({"table": {"a": "x", "b": 3}}, ["table.b: must be a text, got a whole number 3"]),
        ({"person": {}}, ["person.name: is missing; person needs it"]),
        ({"persons": {"name": {}}}, ["persons.name.name: is missing; persons.name needs it"]),
        (
            {"maybe_persons": [{"nam": "x"}]},
            ["maybe_persons[0].nam: unknown key 'nam'; did you mean 'name'?"],
        ),
        ({"person": {"nam": "x"}}, ["person.nam: unknown key 'nam'; did you mean 'name'?"]),
        (
            {"person": {"zzz": 1}},
            [
                "person.zzz: unknown key 'zzz'; have age, name",
                "person.name: is missing; person needs it",
            ],
        ),
        (
            {"person": {"name": "", "age": -1}},
            ["person.name: must not be empty", "person.age: must be at least 0, got -1"],
        ),
        (
            {"person": {"name": "x", "x-own": 3}},
            ["person.x-own: unknown key 'x-own'; have age, name"],
        ),
        (
            {"texts": [3], "zzzz": 1, "boolean": 1},
            [
                "texts[0]: must be a text, got a whole number 3",
                f"zzzz: unknown key 'zzzz'; have {', '.join(sorted(Document.model_fields))}",
                "boolean: must be true or false, got a whole number 1",
            ],
        ),
    ],
)
def test_the_key_leads_to_the_part_that_is_wrong(keys: Any, expected: list[str]) -> None:
    """In the order of the document; a misspelt key is not also told as missing."""
    assert check(**keys) == expected


def test_a_document_is_a_mapping() -> None:
    """Without a key there is no colon before the sentence."""
    [problem] = find_mistakes(make_node([], PLACE), Document)
    assert str(problem) == "f: must be a mapping, got a list"


@pytest.mark.parametrize(
    "value",
    [
        {"text": BROKEN},
        {"texts": Node((BROKEN,), PLACE)},
        {"table": Node({"a": BROKEN}, PLACE)},
        {"person": Node({"name": BROKEN}, PLACE)},
        {"either": BROKEN},
        {"either": Node((BROKEN,), PLACE)},
    ],
)
def test_a_problem_that_stands_for_a_value_is_left_for_later(value: dict[str, Node]) -> None:
    """A layer above may still replace it; only what is left after merging counts."""
    assert list(find_mistakes(Node(value, PLACE), Document)) == []


@pytest.mark.parametrize("other", [Node({}, PLACE), Node(3, PLACE)])
def test_what_stands_beside_such_a_problem_is_still_checked(other: Node) -> None:
    """It would be taken for right otherwise."""
    for values in ((BROKEN, other), (other, BROKEN)):
        [problem] = find_mistakes(Node({"either": Node(values, PLACE)}, PLACE), Document)
        assert problem.message == "must be a or b, got a list"


def test_an_unknown_key_is_refused_whatever_will_stand_there() -> None:
    """Also where a value may have several types."""
    person = Node({"name": Node("x", PLACE), "zzz": BROKEN}, PLACE)
    [problem] = find_mistakes(Node({"name_or_person": person}, PLACE), Document)
    assert problem.message == "must be a name or a person, got a mapping"


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("high", "got a text 'high'"),
        (7, "got a whole number 7"),
        (True, "got true or false True"),
        (None, "got nothing"),
        ([1, 2], "got a list"),
        ({"a": 1}, "got a mapping"),
    ],
)
def test_the_value_is_shown_unless_it_is_long(value: Any, got: str) -> None:
    """Lists and mappings are named and not written out."""
    assert refuse_kind(make_node(value, Place("f", 2)), "a number") == f"must be a number, {got}"
