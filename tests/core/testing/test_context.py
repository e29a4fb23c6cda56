"""Conversations in a list."""

from __future__ import annotations

import pytest

from amplifier_core.testing import MemoryContext, MockContextManager

SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("kind", [MemoryContext, MockContextManager])
async def test_a_conversation_takes_both_forms(kind: type[MemoryContext]) -> None:
    """A whole message is kept as it is; one of role and content is given the rest."""
    context = kind([SYSTEM])
    await context.add_message(USER)
    await context.add_message("user", "a", {"k": 1}, name="n")
    assert context.messages[:2] == [SYSTEM, USER]
    last = context.messages[2]
    assert last.pop("timestamp").endswith("+00:00")
    assert last == {"role": "user", "content": "a", "metadata": {"k": 1}, "name": "n"}
    assert [one["content"] for one in await context.get_messages()] == ["s", "hi", "a"]
    await context.set_messages([USER])
    assert await context.get_messages_for_request() == [USER]
    await context.clear()
    assert await context.get_messages() == []
    assert context.messages == []


def test_a_conversation_can_be_read_without_waiting() -> None:
    """Loops of the specification read it plainly, those of the ecosystem await it."""
    context = MemoryContext([USER])
    assert context.get_messages() == [USER]
    assert context.get_messages_for_request(token_budget=5, provider=None) == [USER]


async def test_what_is_read_is_the_readers_own() -> None:
    """Neither the list given nor the list read is the conversation itself."""
    given = [USER]
    context = MemoryContext(given)
    given.clear()
    (await context.get_messages()).clear()
    assert context.messages == [USER]
    message = {"role": "user", "content": "x"}
    await context.add_message(message)
    message["content"] = "changed later"
    assert context.messages[1]["content"] == "x"


async def test_what_is_no_dict_is_kept_as_it_is() -> None:
    """A model of a message, say."""
    message, context = object(), MemoryContext()
    await context.add_message(message)
    assert context.messages == [message]


async def test_a_mock_can_be_asked_how_it_was_called() -> None:
    """Its methods are mocks over the messages."""
    context = MockContextManager()
    await context.add_message(USER)
    await context.get_messages_for_request(token_budget=10)
    await context.clear()
    context.add_message.assert_awaited_once_with(USER)  # type: ignore[attr-defined]
    context.get_messages.assert_not_awaited()  # type: ignore[attr-defined]
    asked = context.get_messages_for_request
    asked.assert_awaited_once_with(token_budget=10)  # type: ignore[attr-defined]
    context.clear.assert_awaited_once_with()  # type: ignore[attr-defined]
