"""Editing one value in a JSON text, as a careful person would."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.installing.json_edit import (
    Node,
    append_child,
    parse_json,
    read_style,
    remove_child,
    replace_value,
)


def parse(text: str) -> Node:
    """With everything allowed."""
    return parse_json(text, comments=True, trailing_commas=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ("{ }", '{\n  "k": [\n    1\n  ]\n}'),
        ('{"a":1}', '{"a":1, "k": [1]}'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "k": [\n        1\n    ]\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"k": [\r\n\t\t1\r\n\t]\r\n}'),
        ('{\n "a": 1 // one\n}', '{\n "a": 1, // one\n "k": [\n  1\n ]\n}'),
        ('{\n "a": 1, // one\n}', '{\n "a": 1, // one\n "k": [\n  1\n ],\n}'),
        ("{\n // none\n}", '{\n // none\n "k": [\n  1\n ]\n}'),
    ],
)
def test_a_new_member_is_written_like_the_others(text: str, expected: str) -> None:
    """Indentation, line ends, comments and commas as the file has them."""
    added = append_child(text, parse(text), "k", [1])
    assert added == expected
    assert parse(added).to_value()["k"] == [1]


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[ 1 ]", 0, "[]"),
        ("[\n  1,\n  2\n]", 0, "[\n  2\n]"),
        ("[\n  1,\n  2\n]", 1, "[\n  1\n]"),
        ("[\n  1, // one\n  2\n]", 1, "[\n  1 // one\n]"),
        ("[\n  1, // one\n  2, 3]", 1, "[\n  1, // one\n   3]"),
        ("[\n  1, // one\n  2 ]", 1, "[\n  1 // one\n   ]"),
        ("[1, 2,]", 1, "[1,]"),
        ("[1 /* , */ , 2]", 1, "[1 /* , */ ]"),
        ("[/* none */ 1]", 0, "[/* none */]"),
        ("[1 ,]", 0, "[]"),
    ],
)
def test_a_child_goes_with_its_comma(text: str, number: int, expected: str) -> None:
    """Comments of others stay, and what is left can be read."""
    root = parse(text)
    removed = remove_child(text, root, root.children[number])
    assert removed == expected
    values = root.to_value()
    assert parse(removed).to_value() == values[:number] + values[number + 1 :]


def test_an_emptied_container_gets_back_what_was_in_it() -> None:
    """Unless there is something new in it."""
    root = parse("[ 1 ]")
    assert remove_child("[ 1 ]", root, root.children[0], "\n ") == "[\n ]"
    root = parse("[ 1 /* new */ ]")
    assert remove_child("[ 1 /* new */ ]", root, root.children[0], "\n ") == "[ /* new */ ]"


def test_a_value_is_replaced_in_its_place() -> None:
    """In one line or in several, as it was."""
    text = '{\n  "a": {"x": 1},\n  "b": [\n    1\n  ]\n}'
    root = parse(text)
    assert '"a": {"x": [2]},' in replace_value(text, root.find("a")[0].node, {"x": [2]})
    assert '"b": [\n    2,\n    3\n  ]\n}' in replace_value(text, root.find("b")[0].node, [2, 3])


def test_the_style_is_that_of_the_text() -> None:
    """And plain where the text shows none."""
    assert read_style("{}").indent == "  "
    assert not read_style("{}").is_compact
    assert read_style('{"a": 1}').is_compact
    assert read_style('{\r\n\t"a": 1}') == read_style('[\r\n\t"a"]')
