"""The event at which hooks see what a server offers."""

from __future__ import annotations

from amplifier_core.events.event import TYPES
from amplifier_hooks.guards.mcp.listing import LIST, ListData


def test_the_event_has_its_name_and_the_type_of_its_data() -> None:
    """So that hooks and their authors' tools know both."""
    assert LIST == "mcp:list"
    assert TYPES[LIST] is ListData
