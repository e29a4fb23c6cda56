"""The time that a report is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Period:
    """From when and until when; times as records have them, or beginnings of such times."""

    since: str = ""
    until: str = ""

    def holds(self, time: str) -> bool:
        """Whether a time lies in it."""
        return (not self.since or time >= self.since) and (not self.until or time < self.until)

    def __bool__(self) -> bool:
        return bool(self.since or self.until)
