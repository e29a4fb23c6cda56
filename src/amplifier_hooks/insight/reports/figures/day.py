"""What happened on a day."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Day:
    """The figures of one day, in UTC."""

    sessions: int = 0
    calls: int = 0
    denied: int = 0
    asked: int = 0
    changed: int = 0
    tokens: int = 0

    def add(self, other: Day) -> None:
        """Take the figures of another session in."""
        self.sessions += other.sessions
        self.calls += other.calls
        self.denied += other.denied
        self.asked += other.asked
        self.changed += other.changed
        self.tokens += other.tokens
