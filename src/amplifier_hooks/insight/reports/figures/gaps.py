"""What a trail does not tell: values that are not in it, and how often."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from amplifier_hooks.insight.reports.figures.kept import count_named
from amplifier_hooks.trails import RecordedEvent

_MOST_PLACES = 50
_NOT_MISSED = "trails do not repeat it"
"""The conversation stands in the records of its turns; nobody misses it in each of them."""


@dataclass(slots=True)
class Gaps:
    """Values that are missing, by reason and by place, and texts in which something is masked."""

    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By reason and place, such as `tool:pre tool_input.content`."""
    masked: Counter[str] = field(default_factory=Counter)
    unverified: int = 0
    """Records that were left out: they stand behind the end that was verified, or twice."""

    def take(self, item: RecordedEvent) -> None:
        """Note what an event lacks."""
        for path, why in item.missing.items():
            if why != _NOT_MISSED:
                self._count_missing(why, f"{item.event} {path}".strip()[:200])
        for path in item.masked:
            count_named(self.masked, f"{item.event} {path}"[:200], _MOST_PLACES)

    def _count_missing(self, why: str, place: str) -> None:
        key = (why, place)
        is_full = key not in self.missing and len(self.missing) >= _MOST_PLACES
        self.missing[(why, "(other places)") if is_full else key] += 1
