"""A recorder of events: a hook that listens, or a registry that nobody has registered with."""

from __future__ import annotations

from typing import Any

from amplifier_core.models import HookResult

Event = tuple[str, Any]


class EventRecorder:
    """Keeps every event it hears and gives one answer to all of them.

    Register it as a hook, or hand it to a loop in place of a registry.
    """

    def __init__(self, answer: HookResult | None = None) -> None:
        self.events: list[Event] = []
        self.answer = answer or HookResult(action="continue")

    async def __call__(self, event: str, data: Any) -> HookResult:
        return await self.record(event, data)

    async def record(self, event: str, data: Any) -> HookResult:
        """The handler to register."""
        self.events.append((event, dict(data) if isinstance(data, dict) else data))
        return self.answer

    async def emit(self, event: str, data: Any = None) -> HookResult:
        """What a loop calls on its registry."""
        return await self.record(event, data)

    def get_events(self, event_type: str | None = None) -> list[Event]:
        """What was heard: all of it, or one kind."""
        return [one for one in self.events if event_type is None or one[0] == event_type]

    @property
    def names(self) -> list[str]:
        """The names of what was heard, in order."""
        return [name for name, _ in self.events]

    def clear(self) -> None:
        """Forget it."""
        self.events.clear()
