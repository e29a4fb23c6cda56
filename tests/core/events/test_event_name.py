"""The names that editors complete are those that there are."""

from __future__ import annotations

from typing import get_args

from amplifier_core import events
from amplifier_core.events import EventName


def test_the_literal_holds_every_spelling_of_every_event() -> None:
    """A new event that is missing here would be refused by type checkers."""
    known = {spelled for event in events.ALL_EVENTS for spelled in events.spellings(event)}
    names = get_args(EventName)
    assert set(names) == known
    assert len(names) == len(known)
