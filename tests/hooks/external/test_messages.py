"""Messages: what hooks left is found again among what the framework had."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.external.messages import (
    Placed,
    find_problem,
    is_unchanged,
    place_messages,
    read_text,
)

USER = {"role": "user", "content": "a"}
REPLY = {"role": "assistant", "content": "b"}
RESULT = {"role": "tool", "content": "c", "tool_call_id": "1"}

message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": st.text("ab", max_size=2)}
)


@given(st.lists(message, max_size=6), st.lists(message, max_size=6))
def test_what_is_sent_is_what_hooks_left(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    """Whatever they did, putting the pieces together gives their messages, in their order."""
    sent = [
        before[one.index] if one.message is None else one.message  # type: ignore[index]
        for one in place_messages(before, after)
    ]
    assert sent == after


@given(st.lists(message, max_size=6), st.lists(message, max_size=6))
def test_each_message_of_the_framework_is_used_once(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    """And in its order: no result of a tool changes places with another."""
    used = [one.index for one in place_messages(before, after) if one.index is not None]
    assert used == sorted(set(used))


@given(st.lists(message, max_size=6))
def test_an_untouched_request_is_recognised(before: list[dict[str, Any]]) -> None:
    """So that the framework sends its own objects."""
    assert is_unchanged(place_messages(before, list(before)), len(before))


def test_a_changed_message_keeps_its_place() -> None:
    """Its own object gets another text, and keeps everything else."""
    changed = {**USER, "content": "z"}
    assert place_messages([USER, REPLY], [changed, REPLY]) == [Placed(0, changed), Placed(1)]


def test_a_new_message_before_another_of_its_role_is_new() -> None:
    """What follows unchanged was not changed."""
    new = {"role": "user", "content": "new"}
    assert place_messages([USER], [new, USER]) == [Placed(None, new), Placed(0)]


def test_a_result_of_another_call_is_no_changed_one() -> None:
    """A result belongs to its call."""
    other = {**RESULT, "tool_call_id": "2", "content": "x"}
    assert place_messages([RESULT], [other]) == [Placed(None, other)]


def test_a_message_that_became_like_a_later_one_keeps_its_place() -> None:
    """Those in between are still the framework's own."""
    no, yes = {"role": "user", "content": "no"}, {"role": "user", "content": "yes"}
    placed = place_messages([no, REPLY, yes], [yes, REPLY, yes])
    assert placed == [Placed(0, yes), Placed(1), Placed(2)]


def test_a_message_is_the_same_whatever_the_order_of_its_keys() -> None:
    """A hook may have built it anew."""
    turned = dict(reversed(REPLY.items()))
    assert place_messages([USER, REPLY], [{**USER, "content": "z"}, turned])[1] == Placed(1)


def test_a_removed_message_makes_a_changed_request() -> None:
    """Fewer are not the same."""
    placed = place_messages([USER, REPLY], [USER])
    assert placed == [Placed(0)]
    assert not is_unchanged(placed, 2)


def test_the_text_of_any_content() -> None:
    """A text, blocks of either form, nothing, or something else."""

    class Block:
        text = "b"

    assert read_text("a") == "a"
    assert read_text(None) == ""
    assert read_text([{"type": "text", "text": "a"}, Block(), "c", {"type": "image"}]) == "abc"
    assert read_text(7) == "7"


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([USER, 3], "left int as message 2"),
        ([{"content": "a"}], "message 1 without a role"),
        ([{"role": 7, "content": "a"}], "message 1 without a role"),
        ([USER, REPLY, {"role": "user", "content": {"a"}}], "left set as the content of message 3"),
    ],
)
def test_what_is_no_message_is_named(messages: list[Any], problem: str) -> None:
    """No framework could send it."""
    assert problem in str(find_problem(messages))


def test_what_is_a_message_is_no_problem() -> None:
    """A text, blocks, or nothing beside tool calls."""
    blocks = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    assert find_problem([USER, RESULT, blocks, {"role": "assistant", "content": None}]) is None
