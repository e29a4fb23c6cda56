"""Values as text."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.excerpts import (
    KEPT_APART,
    OTHERS,
    REDACTED,
    SHORT,
    TOO_DEEP,
    BoundedGroups,
    BoundedList,
    PendingItems,
    Spans,
    count_named,
    cut_text,
    find_message,
    format_value,
    join_blocks,
    measure,
    read_seconds,
    summarize,
)
from tests.hooks.insight.reports.stories import at


def test_a_long_text_says_how_much_is_missing() -> None:
    """The beginning, and the number of characters behind it."""
    excerpt = cut_text("x" * 50, 20)
    assert (len(excerpt.text), excerpt.left_out) == (20, 30)
    assert cut_text("short", 20).left_out == 0


def test_fields_stand_on_lines_of_their_own() -> None:
    """Content of several lines is readable, and cannot be taken for another field."""
    written = format_value({"file_path": "a.py", "content": "x = 1\nfile_path: b.py", "flags": [1]})
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
    assert format_value(value) == shown


def test_a_value_that_the_trail_cut_says_so() -> None:
    """The beginning that the trail has, and a word."""
    assert format_value({"$cut": 9000, "head": "abc"}).startswith("abc…")


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
    assert format_value(value) == TOO_DEEP
    assert format_value({"a": value}) == TOO_DEEP


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(0, 40))
def test_the_first_and_the_last_are_kept_and_the_others_counted(most: int, count: int) -> None:
    """Never more than there is room for; nothing is lost without being counted."""
    kept: BoundedList[int] = BoundedList(most)
    for number in range(count):
        kept.add(number)
    assert [*kept] == [*kept.first, *kept.last]
    assert len([*kept]) + kept.left_out == kept.count == count
    assert len([*kept]) <= most
    if count:
        assert next(iter(kept)) == 0
    if most > 1 and count:
        assert [*kept][-1] == count - 1


def test_without_a_gap_everything_comes_before_it() -> None:
    """What fits has no last part."""
    kept: BoundedList[int] = BoundedList(4)
    for number in range(4):
        kept.add(number)
    assert kept.first == [0, 1, 2, 3]
    assert kept.last == []


def test_names_without_room_share_one() -> None:
    """A trail with a million names does not fill the memory."""
    named: BoundedGroups[Counter[str]] = BoundedGroups(Counter, 2)
    for name in ("a", "b", "c", "d", "a"):
        named.group(name)["seen"] += 1
    assert {name: one["seen"] for name, one in named.items()} == {"a": 2, "b": 1, OTHERS: 2}
    counts: Counter[str] = Counter()
    for name in ("a", "b", "c", "a"):
        count_named(counts, name, 2)
    assert counts == {"a": 2, "b": 1, OTHERS: 1}


def test_the_oldest_open_thing_is_forgotten() -> None:
    """What never ends makes room for what is new."""
    open_things: PendingItems[str, int] = PendingItems(2)
    for number, name in enumerate(("a", "b", "a", "c")):
        open_things[name] = number
    assert open_things == {"b": 1, "c": 3}


def test_times_are_read_with_and_without_a_zone() -> None:
    """Trails have nanoseconds and a Z; what is no time is none."""
    assert read_seconds("1970-01-01T00:00:01.500000000Z") == 1.5
    assert read_seconds("1970-01-01T00:00:01") == 1.0
    assert read_seconds("yesterday") is None


def test_swapped_times_have_no_duration() -> None:
    """A clock that was set back makes no negative wait."""
    assert measure(at(1), at(3)) == 2
    assert measure(at(3), at(1)) is None
    assert measure("", at(1)) is None


def test_many_spans_become_few_that_cover_the_same_time() -> None:
    """The closest ones are joined; first and last times stay."""
    spans = Spans(most=5)
    for number in range(40):
        spans.add(at(number), at(number + 0.5))
    spans.add("no time", at(3))
    found = [*spans]
    assert len(found) <= 10
    assert (found[0][0], found[-1][1]) == (read_seconds(at(0)), read_seconds(at(39.5)))
