"""What one hook did in a session, or in several."""

from __future__ import annotations

from dataclasses import dataclass, field

from amplifier_core.models.hook_counts import HookCounts
from amplifier_hooks.trails import RecordedHook

_MOST_EVENTS = 12


@dataclass(slots=True)
class HookFigures:
    """The figures of all registrations that go by one name."""

    counts: HookCounts = field(default_factory=HookCounts)
    events: set[str] = field(default_factory=set)
    guard: bool = False
    shadow: bool = False
    module: str = ""

    def register(self, hook: RecordedHook) -> None:
        """Note what it listens to, and how."""
        if len(self.events) < _MOST_EVENTS:
            self.events.add(hook.event)
        self.guard |= hook.on_error == "deny"
        self.shadow |= hook.shadow
        self.module = self.module or hook.module

    def add(self, other: HookFigures) -> None:
        """Take the figures of another session in."""
        self.counts.add(other.counts)
        self.events.update(sorted(other.events)[: _MOST_EVENTS - len(self.events)])
        self.guard |= other.guard
        self.shadow |= other.shadow
        self.module = self.module or other.module
