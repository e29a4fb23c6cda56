"""A session of another agent, as its moments see it."""

from __future__ import annotations

from typing import Any, Protocol

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models.outcome import Outcome
from amplifier_foundation.dialects import Dialect
from amplifier_foundation.guests.sessions.open_calls import OpenCalls


class Guest(Protocol):
    """What a moment needs of the session."""

    calls: OpenCalls
    blocked_stops: int

    @property
    def dialect(self) -> Dialect: ...
    @property
    def coordinator(self) -> SessionCoordinator: ...
    def count_tool_call(self) -> None: ...


async def judge(guest: Guest, event: str, data: dict[str, Any]) -> Outcome:
    """Take an event to its outcome; which fields it has, the agent's table says."""
    coordinator: Any = guest.coordinator
    outcome: Outcome = await coordinator.judge(event, data)
    return outcome


async def notify(guest: Guest, event: str, data: dict[str, Any]) -> None:
    """Tell of an event that nothing can undo."""
    coordinator: Any = guest.coordinator
    await coordinator.notify(event, data)
