"""The past: the time that recorded events happened at, and a registry that tells it to hooks."""

from __future__ import annotations

from datetime import UTC, datetime

from amplifier_core.events.modes import Mode
from amplifier_core.hooks import HookRegistry


class PastClock:
    """Stands at the time of the event that is being judged."""

    def __init__(self) -> None:
        self.text = ""
        self._seconds: float | None = None

    def set(self, time: str) -> None:
        """Set it to the time of a record."""
        # As registries write it: in milliseconds.
        self.text = f"{time[:23]}+00:00" if time.endswith("Z") and len(time) > 23 else time
        self._seconds = None

    def __call__(self) -> float:
        """Seconds since 1970."""
        if self._seconds is None:
            self._seconds = read_time(self.text).timestamp()
        return self._seconds


def read_time(text: str) -> datetime:
    """The time of a record; the first moment of all for one that has none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class PastRegistry(HookRegistry):
    """A registry whose events happened when the clock says."""

    def __init__(
        self, clock: PastClock, parent: HookRegistry | None = None, mode: Mode = "enforce"
    ) -> None:
        super().__init__(parent, mode)
        self.clock = lambda: clock.text
