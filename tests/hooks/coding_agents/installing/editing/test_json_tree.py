"""JSON with places: what is read, where it stands, and which line is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.installing.json_edit import (
    JsonProblem,
    count_line,
    parse_json,
)

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(_VALUES, st.sampled_from([None, 2]), st.booleans())
def test_what_python_writes_is_read_as_python_reads_it(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    """Every value of JSON."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse_json(text).to_value() == json.loads(text)


@given(st.text(alphabet='{}[]",:\\/*tru01e- \n', max_size=14))
def test_what_python_refuses_is_refused(text: str) -> None:
    """And what it reads is read: where there are no comments, this is JSON and nothing else."""
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(JsonProblem):
            parse_json(text)
    else:
        assert parse_json(text).to_value() == expected


def test_a_child_is_found_in_the_text() -> None:
    """From its name to the end of its value."""
    text = '{ "a" : [1, "x"] , "b": 2 }'
    root = parse_json(text)
    first = root.find("a")[0]
    assert text[first.start : first.end] == '"a" : [1, "x"]'
    assert [text[one.start : one.end] for one in first.node.children] == ["1", '"x"']


def test_both_members_with_one_name_are_found() -> None:
    """Readers of JSON see only the last."""
    root = parse_json('{"a": 1, "a": 2}')
    assert [one.node.scalar for one in root.find("a")] == [1, 2]
    assert root.to_value() == {"a": 2}


def test_comments_and_trailing_commas_are_read_where_they_are_allowed() -> None:
    """Some agents read them, others do not."""
    text = '// first\n{"a": [1, /* in */ 2,], // last\n}'
    parsed = parse_json(text, comments=True, trailing_commas=True)
    assert parsed.to_value() == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "the text ends"),
        ('{"a": 1}\n x', 2, "behind the end"),
        ('{\n// c\n"a": 1}', 2, "does not read"),
        ('{\n"a": tru}', 2, "found 'tru}'"),
        ('{\n\n"a\n": 1}', 3, "this string has no end"),
        ("{\na: 1}", 2, "the name of a key"),
        ('{"a"\n 1}', 2, "expected ':' behind the key 'a'"),
        ('["a"\n"b"]', 2, "expected ',' or"),
        ("[1,\n]", 2, "a comma before"),
    ],
)
def test_an_error_names_its_line(text: str, line: int, what: str) -> None:
    """And says what stands there."""
    with pytest.raises(JsonProblem, match=what) as caught:
        parse_json(text)
    assert caught.value.line == line


def test_an_open_comment_is_refused() -> None:
    """It would swallow the rest of the file."""
    with pytest.raises(JsonProblem, match="no end"):
        parse_json("{} /* open", comments=True)


def test_depth_is_limited() -> None:
    """A file cannot exhaust the stack."""
    with pytest.raises(JsonProblem, match="within one another"):
        parse_json("[" * 5000)


def test_very_long_numbers_do_no_harm() -> None:
    """They stay as their digits."""
    digits = "9" * 6000
    assert parse_json(digits).scalar == digits


def test_lines_are_counted_from_one() -> None:
    """As editors do."""
    assert [count_line("a\nb\r\nc", at) for at in (0, 2, 5)] == [1, 2, 3]
