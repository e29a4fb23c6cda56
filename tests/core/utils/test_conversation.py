"""The last answer of a conversation can be replaced, and nothing of it stays behind."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.utils.conversation import read_text, replace_last_answer

USER = {"role": "user", "content": "hello"}


def test_the_last_answer_is_replaced_and_what_repeats_it_goes() -> None:
    """What a loop keeps beside the text may hold the same words."""
    old = {"role": "assistant", "content": "hello"}
    answer = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "a key"}, {"type": "text", "text": "a key"}],
        "raw": "a key",
        "timestamp": "now",
        "metadata": {"model": "m"},
    }
    behind = {"role": "system", "content": "a reminder"}
    changed = replace_last_answer([old, USER, answer, behind], ("a key",), "gone")
    new = {"role": "assistant", "timestamp": "now", "metadata": {"model": "m"}, "content": "gone"}
    assert changed == [old, USER, new, behind]


def test_what_a_hook_injected_in_the_agent_s_name_is_no_answer() -> None:
    """It stands behind the answer that another hook takes back."""
    answer = {"role": "assistant", "content": "a key", "metadata": None}
    injected = {"role": "assistant", "content": "be brief", "metadata": {"source": "hook"}}
    changed = replace_last_answer([answer, injected], ("a key",), "gone")
    assert changed == [{"role": "assistant", "metadata": None, "content": "gone"}, injected]


def test_an_answer_that_called_tools_keeps_its_calls() -> None:
    """A result without its call would be refused by every model."""
    call = {"id": "1", "name": "Read", "arguments": {}}
    answer = {"role": "assistant", "content": "a key", "tool_calls": [call]}
    changed = replace_last_answer([answer], ("a key",), "gone")
    assert changed == [{"role": "assistant", "tool_calls": [call], "content": "gone"}]


@pytest.mark.parametrize(
    "messages",
    [[], [USER], ["no message"], [{"role": "assistant", "content": "something else"}]],
)
def test_a_conversation_that_does_not_end_with_it_stays(messages: list[Any]) -> None:
    """Only the message that has exactly this text is replaced."""
    assert replace_last_answer(messages, ("a key",), "gone") is None


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "text"}], ""),
        (None, None),
        (7, None),
    ],
)
def test_the_text_of_a_message_is_read_in_either_form(content: Any, text: str | None) -> None:
    """A text, or blocks of which some are text."""
    assert read_text(content) == text
