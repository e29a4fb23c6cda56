"""Which calls of a conversation have no result."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.modules.open_calls import list_open_calls


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
