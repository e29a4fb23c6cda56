"""What hooks add to a conversation that is elsewhere."""

from __future__ import annotations

from amplifier_core.testing import MemoryContext
from amplifier_hooks.external.conversation import EventContext, ExternalContext, current_event

MESSAGE = {"role": "user", "content": "a"}


async def test_what_is_added_during_an_event_belongs_to_it() -> None:
    """A message goes to the event in whose course it was added."""
    context, event = ExternalContext(), EventContext()
    token = current_event.set(event)
    await context.add_message({"role": "system", "content": "hello"})
    current_event.reset(token)
    assert event.texts == ["hello"]
    assert context.take() == []


async def test_an_owner_gets_everything_too() -> None:
    """A coordinator made by hand may have a conversation of its own."""
    owner = MemoryContext()
    context = ExternalContext(owner)
    await context.add_message(MESSAGE)
    assert await owner.get_messages() == [MESSAGE]
    await context.clear()
    assert context.take() == []
    assert await owner.get_messages() == []


async def test_the_conversation_is_elsewhere() -> None:
    """Nobody reads or replaces it here; what is added waits for what can carry it, once."""
    context = ExternalContext()
    await context.add_message(MESSAGE)
    await context.set_messages([])
    assert await context.get_messages() == await context.get_messages_for_request() == []
    assert context.take() == [MESSAGE]
    assert context.take() == []
