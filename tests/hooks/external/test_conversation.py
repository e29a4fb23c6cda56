"""What hooks add to a conversation that a framework keeps."""

from __future__ import annotations

from amplifier_core.testing import MemoryContext
from amplifier_hooks.external.conversation import RunContext

MESSAGE = {"role": "user", "content": "a"}


async def test_what_is_added_waits_and_is_taken_once() -> None:
    """For the next request."""
    context = RunContext()
    await context.add_message(MESSAGE)
    assert await context.get_messages() == [MESSAGE]
    assert await context.get_messages_for_request() == [MESSAGE]
    assert context.take() == [MESSAGE]
    assert context.take() == []


async def test_an_owner_gets_everything_too() -> None:
    """A coordinator made by hand may have a conversation of its own."""
    owner = MemoryContext()
    context = RunContext(owner)
    await context.add_message(MESSAGE)
    assert await owner.get_messages() == [MESSAGE]
    await context.clear()
    assert context.take() == []
    assert await owner.get_messages() == []


async def test_nobody_replaces_the_framework_s_conversation() -> None:
    """What waits stays."""
    context = RunContext()
    await context.add_message(MESSAGE)
    await context.set_messages([])
    assert context.take() == [MESSAGE]
    await context.add_message(MESSAGE)
    await context.clear()
    assert context.take() == []
