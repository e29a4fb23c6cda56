"""Messages and replies, ours and theirs."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from amplifier_hooks.frameworks.agent_hooks.translation import (
    change_reply,
    restore_messages,
    show_message,
    show_reply,
)

USER = {"role": "user", "content": "go", "timestamp": "1", "metadata": {"a": 1}}
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "name": "Write", "arguments": {"x": 1}}],
}
TOOL = {"role": "tool", "content": "done", "tool_call_id": "c1", "timestamp": "3"}


def test_a_message_is_shown_without_what_only_a_session_needs() -> None:
    """Its content is never null."""
    assert show_message(USER) == {"role": "user", "content": "go"}
    assert show_message(CALLING) == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "name": "Write", "args": {"x": 1}}],
    }
    assert show_message(TOOL) == {"role": "tool", "content": "done", "tool_call_id": "c1"}


def test_what_nobody_touched_is_our_own_again_wherever_it_is() -> None:
    """Also if another message was taken out or put in before it."""
    ours: list[dict[str, Any]] = [USER, CALLING, TOOL]
    shown = [show_message(one) for one in ours]
    new = {"role": "system", "content": "be brief"}
    assert restore_messages(ours, shown, [new, *shown]) == [new, *ours]
    assert restore_messages(ours, shown, shown[1:]) == ours[1:]


def test_a_changed_message_keeps_its_place_and_its_calls() -> None:
    """The calls as the interceptor left them."""
    ours: list[dict[str, Any]] = [USER, CALLING]
    shown = [show_message(one) for one in ours]
    call = {"id": "c1", "name": "Write", "args": {"x": 2}}
    left = [{**shown[0], "content": "stop"}, {**shown[1], "tool_calls": [call]}]
    user, calling = restore_messages(ours, shown, left)
    assert user == {**USER, "content": "stop"}
    assert calling["tool_calls"] == [{"id": "c1", "name": "Write", "arguments": {"x": 2}}]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, None),
        ("a", "a"),
        ([{"type": "thinking", "thinking": "b"}], None),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
    ],
)
def test_the_text_of_a_reply_is_shown(content: Any, text: str | None) -> None:
    """In whichever form it was kept."""
    assert show_reply({"content": content})["content"] == text


def test_of_a_changed_reply_no_thought_repeats_what_was_taken_out() -> None:
    """Calls that were taken out are gone from its blocks as well."""
    blocks = [
        {"type": "thinking", "thinking": "the PIN"},
        {"type": "text", "text": "the PIN"},
        {"type": "tool_call", "id": "c1"},
    ]
    call = {"id": "c1", "name": "Write", "arguments": {}}
    response = {"content": blocks, "tool_calls": [call], "finish_reason": "tool_calls"}
    before = show_reply(response)
    left = {**before, "content": "hidden"}
    assert change_reply(response, before, left)["content"] == [{"type": "text", "text": "hidden"}]
    without = change_reply(response, before, {**before, "tool_calls": []})
    assert (without["tool_calls"], without["content"]) == ([], blocks[:2])
    assert change_reply(response, before, {**before, "content": None})["content"] == [
        {"type": "text", "text": ""}
    ]
