"""A session of another agent, as its moments see it."""

from __future__ import annotations

from typing import Any, Protocol

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import is_notification
from amplifier_core.models.outcome import Outcome
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.sessions.open_calls import OpenCalls
from amplifier_hooks.coding_agents.sessions.passing import current

_HANDED_BACK = frozenset({events.TOOL_PRE, events.TOOL_POST, events.PROMPT_SUBMIT})
"""Where the agent is given what hooks make of it."""


class Guest(Protocol):
    """What a moment needs of the session."""

    calls: OpenCalls
    denied: OpenCalls
    blocked_stops: int
    going_on: str
    blocked_agents: dict[str, int]

    @property
    def dialect(self) -> Dialect: ...
    @property
    def coordinator(self) -> SessionCoordinator: ...
    def count_tool_call(self) -> None: ...


async def judge(guest: Guest, event: str, data: dict[str, Any]) -> Outcome:
    """Take an event to its outcome; which fields it has, the agent's table says."""
    coordinator: Any = guest.coordinator
    outcome: Outcome = await coordinator.judge(event, data)
    passing = current.get()
    if passing is not None:
        passing.answers += outcome.answers
        passing.changed |= event not in _HANDED_BACK and _has_changed(event, outcome)
    return outcome


def _has_changed(event: str, outcome: Outcome) -> bool:
    """Whether hooks changed what was about to happen; what only tells is theirs to change."""
    changed = any(one.result.action == "modify" for one in outcome.answers)
    return outcome.allowed and changed and not is_notification(event)


async def notify(guest: Guest, event: str, data: dict[str, Any]) -> None:
    """Tell of an event that nothing can undo."""
    await judge(guest, event, data)
