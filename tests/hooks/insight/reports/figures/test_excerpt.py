"""Values as text."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.reports.figures.excerpt import (
    KEPT_APART,
    REDACTED,
    SHORT,
    TOO_DEEP,
    cut_text,
    find_message,
    join_blocks,
    summarize,
    to_text,
)


def test_a_long_text_says_how_much_is_missing() -> None:
    """The beginning, and the number of characters behind it."""
    excerpt = cut_text("x" * 50, 20)
    assert (len(excerpt.text), excerpt.left_out) == (20, 30)
    assert cut_text("short", 20).left_out == 0


def test_fields_stand_on_lines_of_their_own() -> None:
    """Content of several lines is readable, and cannot be taken for another field."""
    written = to_text({"file_path": "a.py", "content": "x = 1\nfile_path: b.py", "flags": [1]})
    assert written == "file_path: a.py\ncontent:\n  │ x = 1\n  │ file_path: b.py\nflags: [1]"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"$commitment": "abc"}, KEPT_APART),
        ({"$commitment": "abc", "redacted": True}, REDACTED),
        ({"content": {"$commitment": "abc"}}, f"content: {KEPT_APART}"),
        (None, ""),
        ({}, "{}"),
    ],
)
def test_what_is_not_in_the_trail_says_so(value: object, shown: str) -> None:
    """A commitment is no value."""
    assert to_text(value) == shown


def test_a_value_that_the_trail_cut_says_so() -> None:
    """The beginning that the trail has, and a word."""
    assert to_text({"$cut": 9000, "head": "abc"}).startswith("abc…")


@pytest.mark.parametrize(
    ("value", "about"),
    [
        ({"timeout": 3, "command": "make\nall"}, "make…"),
        ({"file_path": "a.py", "content": "x"}, "a.py"),
        ({"other": "words"}, "words"),
        ({"number": 3}, ""),
        ("text", "text"),
        ({"$commitment": "abc"}, KEPT_APART),
        ({"command": "y" * 500}, "y" * (SHORT - 1) + "…"),
    ],
)
def test_a_call_is_summed_up_in_one_line(value: object, about: str) -> None:
    """By the field that says most."""
    assert summarize(value) == about


def test_messages_are_read_in_every_form() -> None:
    """Text, blocks, and messages that hold them."""
    blocks = [{"type": "text", "text": "a"}, {"type": "tool_call"}, {"type": "text", "text": "b"}]
    assert join_blocks("a") == "a"
    assert join_blocks(blocks) == join_blocks({"content": blocks}) == "ab"
    assert join_blocks({"$commitment": "x"}) == KEPT_APART
    assert join_blocks(None) == ""
    assert find_message({"message": "no", "type": "X"}) == "no"
    assert find_message("no") == "no"


def test_a_forged_value_that_is_nested_without_end_is_not_shown() -> None:
    """The report is made all the same."""
    value: list[object] = []
    for _ in range(3_000):
        value = [value]
    assert to_text(value) == TOO_DEEP
    assert to_text({"a": value}) == TOO_DEEP
