"""Messages for the person, through the agent."""

from __future__ import annotations

from amplifier_hooks.coding_agents.sessions.display import AgentDisplay
from amplifier_hooks.external.conversation import EventContext, current_event


def test_a_warning_says_that_it_is_one() -> None:
    """The agent shows one kind of message: the level stands in the text."""
    display, event = AgentDisplay(), EventContext()
    display.show_message("early", "info")
    token = current_event.set(event)
    display.show_message("late", "warning", "hook:slow")
    current_event.reset(token)
    assert display.take_early() == ["early"]
    assert event.notes == ["warning: slow: late"]
