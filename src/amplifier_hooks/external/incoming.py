"""An event of another agent, in our terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the agent told, where it belongs, and which of our events it is."""

    event: str
    """Ours; an event that has no counterpart is `guest:` and its name in snake case."""

    data: dict[str, Any]
    native: str
    session_id: str
    cwd: str = ""
    transcript: str = ""
    call_id: str = ""
    """Of a tool call; empty where the agent gives none, or where this is no tool call."""

    agent_id: str = ""
    """Of the sub-agent that does this; empty for the agent itself."""

    parent_id: str = ""
    """Of the agent that started the sub-agent: a session, or a sub-agent itself; empty where the
    sub-agent's events belong to the session of the agent anyway."""

    also: tuple[dict[str, Any], ...] = ()
    """Further tool calls that are part of this one, such as each file of a patch: each is judged,
    and none can be rewritten."""

    payload: Mapping[str, Any] = field(default_factory=dict)
    """As it came."""


class UnreadablePayload(ValueError):
    """What the agent sent is not what its protocol says; at a gate that is a denial."""
