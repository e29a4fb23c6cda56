"""The event at which hooks see what a server offers, before a model reads it."""

from __future__ import annotations

from typing import Any, NotRequired

from amplifier_core.events.event import Event, EventData


class ListData(EventData):
    """A server has said what it offers: tools, resources, prompts, or how to use it."""

    server: str
    method: str
    """What was asked for: tools/list, resources/list, resources/templates/list, prompts/list,
    initialize or server/discover."""
    items: list[dict[str, Any]]
    """As the server describes them, on this page of the list; with initialize and server/discover,
    what it says of itself."""
    instructions: NotRequired[str]
    """What the server tells the model about itself, with initialize and server/discover."""


LIST = Event[ListData]("mcp:list")
"""`deny` withholds all of it, `modify` changes `items` and `instructions`."""
