"""The list of a conversation."""

from __future__ import annotations

from amplifier_hooks.agent.contexts.simple import MessageList


def talk() -> MessageList:
    made = ({"role": "user", "content": f"say {number}", "metadata": {}} for number in range(3))
    return MessageList(made)


async def test_it_is_read_plainly_and_awaited() -> None:
    """Existing loops do either."""
    messages = talk()
    assert await messages is messages
