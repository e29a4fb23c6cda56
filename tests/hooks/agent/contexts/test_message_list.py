"""The list of a conversation: whether anybody could change what is in it."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.agent.contexts.message_list import MessageList


def talk() -> MessageList:
    made = ({"role": "user", "content": f"say {number}", "metadata": {}} for number in range(3))
    return MessageList(made)


async def test_it_is_read_plainly_and_awaited() -> None:
    """Existing loops do either."""
    messages = talk()
    assert await messages is messages


def test_a_message_that_somebody_holds_is_noticed() -> None:
    """Or what it says about itself, which is sent as a copy."""
    messages = talk()
    assert messages.is_private()
    held: Any = messages[1]
    assert not messages.is_private()
    held = messages[1]["metadata"]
    assert not messages.is_private()
    held = messages[1]["content"]
    assert messages.is_private(), "nobody can change a text"
    assert held == "say 1"


def test_blocks_are_not_looked_into() -> None:
    """Somebody may hold one of them, so nobody relies on a message that has some."""
    messages = talk()
    messages.append({"role": "user", "content": [{"type": "text", "text": "x"}], "metadata": {}})
    assert not messages.is_private()
    messages[3] = {"role": "assistant", "content": None, "metadata": {}}
    assert messages.is_private()
