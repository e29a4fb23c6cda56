"""Every call of a reply has an id of its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import ToolCall
from amplifier_hooks.modules.conversation import (
    ensure_distinct_ids,
    explain_cut,
    list_open_calls,
    read_finish_reason,
)


@given(st.lists(st.sampled_from(["", "a", "b", "call"]), max_size=8))
def test_ids_are_distinct_and_the_first_of_each_stays(ids: list[str]) -> None:
    """Calls keep their order and everything else; none is left without an id."""
    calls = [ToolCall(id=one, name=f"T{n}", arguments={"n": n}) for n, one in enumerate(ids)]
    distinct = ensure_distinct_ids(calls)
    assert len({call.id for call in distinct} - {""}) == len(calls)
    assert [(call.name, call.arguments) for call in distinct] == [
        (call.name, call.arguments) for call in calls
    ]
    for one in set(ids) - {""}:
        assert distinct[ids.index(one)] is calls[ids.index(one)]


def test_a_new_id_shows_where_it_comes_from() -> None:
    """Whoever reads a log sees which call was repeated, and which had no id."""
    given_ids = ["a", "a", ""]
    calls = [ToolCall(id=one, name="T", arguments={}) for one in given_ids]
    _, repeated, without = ensure_distinct_ids(calls)
    assert repeated.id.startswith("a_")
    assert without.id.startswith("call_")


def test_the_calls_that_were_given_are_not_changed() -> None:
    """A reply may be kept and read again."""
    calls = [ToolCall(id="a", name="T", arguments={}) for _ in range(2)]
    ensure_distinct_ids(calls)
    assert [call.id for call in calls] == ["a", "a"]


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("length", "the limit of its output"),
        ("max_tokens", "the limit of its output"),
        ("MAX_TOKENS", "the limit of its output"),
        ("model_context_window_exceeded", "context window"),
        ("content_filter", "filter"),
        ("SAFETY", "filter"),
    ],
)
def test_a_reply_that_is_not_whole_has_a_cause(reason: str, why: str) -> None:
    """In the words of our providers and in those of the APIs."""
    assert why in str(explain_cut(reason))


@pytest.mark.parametrize("reason", [None, "", "stop", "end_turn", "tool_calls", "something new"])
def test_any_other_reply_is_whole(reason: str | None) -> None:
    """What nobody knows is no cause for alarm."""
    assert explain_cut(reason) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"response": {"finish_reason": "length"}}, "length"),
        ({"response": {"finish_reason": 7}}, None),
        ({"response": {}}, None),
        ({"response": "text"}, None),
        ({}, None),
    ],
)
def test_the_reason_is_read_from_what_any_loop_emits(
    data: dict[str, Any], reason: str | None
) -> None:
    """Or there is none."""
    assert read_finish_reason(data) == reason


def reply(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{"id": one} for one in ids]}


def result(call: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": ""}


def test_only_calls_of_the_last_reply_are_open() -> None:
    """What was left of an earlier reply is over."""
    messages = [reply("a"), {"role": "user", "content": ""}, reply("b", "c"), result("b")]
    assert [one["id"] for one in list_open_calls(messages)] == ["c"]


def test_a_conversation_without_calls_has_none_open() -> None:
    """Nor has an empty one."""
    assert list_open_calls([]) == []
    assert list_open_calls([{"role": "assistant", "content": "Hello."}]) == []
    assert list_open_calls([reply("a"), result("a"), {"role": "assistant", "content": "So."}]) == []
