"""Replies of a model."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import RequestUsage
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from amplifier_hooks.frameworks.pydantic_ai.messages import (
    change_reply,
    read_calls,
    read_reply_text,
    read_usage,
    write_reply,
)

CALL = ToolCallPart("note", '{"text": "a"}', "call_1", id="item_1")
OTHER = ToolCallPart("wipe", {"path": "/"}, "call_2")
THOUGHT = ThinkingPart("hm")
REPLY = ModelResponse(
    parts=[THOUGHT, TextPart("I "), TextPart("will."), CALL, OTHER],
    usage=RequestUsage(input_tokens=3, output_tokens=2),
)


def test_a_reply_is_a_text_and_calls() -> None:
    """Arguments are JSON, however the provider wrote them."""
    assert read_reply_text(REPLY) == "I will."
    assert read_calls(REPLY) == [
        {"id": "call_1", "name": "note", "arguments": {"text": "a"}},
        {"id": "call_2", "name": "wipe", "arguments": {"path": "/"}},
    ]
    assert read_usage(REPLY) == {
        "input_tokens": 3,
        "output_tokens": 2,
        "total_tokens": 5,
    }


def test_broken_arguments_are_shown_as_they_are() -> None:
    """Hooks see that something is wrong with them."""
    broken = ModelResponse(parts=[ToolCallPart("note", '{"text', "call_1")])
    assert read_calls(broken)[0]["arguments"] == {"INVALID_JSON": '{"text'}


def test_another_text_stands_where_the_first_stood() -> None:
    """Thoughts and calls stay as they are."""
    changed = change_reply(REPLY, "No.", None)
    assert changed.parts == [THOUGHT, TextPart("No."), CALL, OTHER]
    assert changed.usage == REPLY.usage


@pytest.mark.parametrize(
    ("parts", "left"),
    [([CALL], [TextPart("No."), CALL]), ([THOUGHT], [THOUGHT, TextPart("No.")])],
)
def test_a_text_that_was_not_there_stands_before_calls(parts: list, left: list) -> None:  # type: ignore[type-arg]
    """Or at the end."""
    assert change_reply(ModelResponse(parts=parts), "No.", None).parts == left


def test_a_removed_text_leaves_no_part() -> None:
    """Providers refuse empty texts."""
    assert change_reply(REPLY, "", None).parts == [THOUGHT, CALL, OTHER]


def test_calls_are_changed_dropped_and_added_by_their_ids() -> None:
    """A changed one is no longer the item that the provider keeps; one left alone is the same."""
    calls = [
        {"id": "call_2", "name": "wipe", "arguments": {"path": "/"}},
        {"id": "call_1", "name": "note", "arguments": {"text": "b"}},
        {"id": "call_3", "name": "note", "arguments": {"text": "c"}},
    ]
    *_, first, second, third = change_reply(REPLY, None, calls).parts
    assert isinstance(first, ToolCallPart)
    assert (first.args, first.id, first.tool_call_id) == ({"text": "b"}, None, "call_1")
    assert second is OTHER
    assert isinstance(third, ToolCallPart)
    assert (third.tool_name, third.tool_call_id) == ("note", "call_3")
    assert read_calls(change_reply(REPLY, None, [])) == []


def test_a_refused_reply_is_nothing_but_the_reason() -> None:
    """What it cost stays on record."""
    said = write_reply(REPLY, "No.")
    assert said.parts == [TextPart("No.")]
    assert said.usage == REPLY.usage
