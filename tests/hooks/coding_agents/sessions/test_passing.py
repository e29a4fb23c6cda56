"""What one event brings about."""

from __future__ import annotations

from amplifier_hooks.coding_agents.sessions.passing import (
    GuestContext,
    GuestDisplay,
    Passing,
    current,
)


async def test_what_is_added_during_an_event_belongs_to_it() -> None:
    """A message goes to the event in whose course it was added."""
    context, passing = GuestContext(), Passing()
    token = current.set(passing)
    await context.add_message({"role": "system", "content": "hello"})
    current.reset(token)
    assert passing.texts == ["hello"]
    assert context.take_early() == []
    assert await context.get_messages() == await context.get_messages_for_request() == []


async def test_what_is_added_otherwise_waits() -> None:
    """Messages of no event wait, and are given out once."""
    context = GuestContext()
    await context.set_messages([])
    await context.add_message({"role": "system", "content": "hello"})
    assert context.take_early() == ["hello"]
    assert context.take_early() == []
    await context.add_message({"role": "system", "content": "gone"})
    await context.clear()
    assert context.take_early() == []


def test_a_warning_says_that_it_is_one() -> None:
    """The agent shows one kind of message: the level stands in the text."""
    display, passing = GuestDisplay(), Passing()
    display.show_message("early", "info")
    token = current.set(passing)
    display.show_message("late", "warning", "hook:slow")
    current.reset(token)
    assert display.take_early() == ["early"]
    assert passing.notes == ["warning: slow: late"]
