"""What one hook did in a session, or in several."""

from __future__ import annotations

from dataclasses import dataclass, field

from amplifier_core.models.hook_counts import HookCounts
from amplifier_foundation.history import RecordedAnswer, RecordedApproval, RecordedHook

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

    def take(self, answer: RecordedAnswer, *, again: bool = False) -> None:
        """Count one call and its answer; one that is given again is counted if it denies."""
        self.counts.calls += 1
        if answer.ms is not None:
            self.counts.count_time(max(0.0, answer.ms) / 1000)
        if answer.error is not None:
            self.counts.count_failure(answer.timed_out)
        elif answer.shadowed:
            self.counts.count_answer(answer.shadowed, True, False)
        elif answer.action != "continue" and not (again and answer.action != "deny"):
            self.counts.count_answer(answer.action, False, answer.unheeded)

    def ask(self, step: RecordedApproval) -> None:
        """Count a step of a question that this hook put."""
        if step.stage == "requested":
            self.counts.asked += 1
        elif step.stage == "remembered":
            self.counts.remembered += 1
        elif step.stage != "cancelled":
            how = "timeout" if step.stage == "expired" else step.how
            self.counts.count_decision(step.allowed, how)

    def add(self, other: HookFigures) -> None:
        """Take the figures of another session in."""
        self.counts.add(other.counts)
        self.events.update(sorted(other.events)[: _MOST_EVENTS - len(self.events)])
        self.guard |= other.guard
        self.shadow |= other.shadow
        self.module = self.module or other.module
