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
    used = [one.index for one in place_messages(before, after) if one.index is not None]
    assert used == sorted(set(used))  # no result of a tool changes places with another


@given(st.lists(message, max_size=6))
def test_an_untouched_request_is_recognised(before: list[dict[str, Any]]) -> None:
    """So that the framework sends its own objects."""
    assert is_unchanged(place_messages(before, list(before)), len(before))


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
    blocks = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    assert find_problem([USER, RESULT, blocks, {"role": "assistant", "content": None}]) is None


CHANGED = {**USER, "content": "z"}
OTHER = {**RESULT, "tool_call_id": "2", "content": "x"}
NO = {"role": "user", "content": "no"}
YES = {"role": "user", "content": "yes"}
TURNED = dict(reversed(REPLY.items()))


@pytest.mark.parametrize(
    ("before", "after", "placed"),
    [
        pytest.param(
            [USER, REPLY],
            [CHANGED, REPLY],
            [Placed(0, CHANGED), Placed(1)],
            id="a changed message keeps its place",
        ),
        pytest.param(
            [USER],
            [NO, USER],
            [Placed(None, NO), Placed(0)],
            id="a new one before another of its role is new",
        ),
        pytest.param([RESULT], [OTHER], [Placed(None, OTHER)], id="a result belongs to its call"),
        pytest.param(
            [NO, REPLY, YES],
            [YES, REPLY, YES],
            [Placed(0, YES), Placed(1), Placed(2)],
            id="one that became like a later one keeps its place",
        ),
        pytest.param(
            [USER, REPLY],
            [CHANGED, TURNED],
            [Placed(0, CHANGED), Placed(1)],
            id="the order of keys does not count",
        ),
        pytest.param([USER, REPLY], [USER], [Placed(0)], id="a message was removed"),
    ],
)
def test_what_hooks_left_is_found_among_what_was_there(
    before: list[Any], after: list[Any], placed: list[Placed]
) -> None:
    """Each message of the framework keeps its object where it can."""
    assert place_messages(before, after) == placed
    assert not is_unchanged(placed, len(before))
