"""Finding hooks that hold the event loop: each is named in one warning.

A hook that took long may only have waited, which is its right. It is timed step by step when it
runs again, and a step is what nothing else can run beside.
"""

from __future__ import annotations

import logging
from time import perf_counter

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.dispatch import Step
from amplifier_core.registration import HookHandler

logger = logging.getLogger(__name__)

TOO_LONG = 0.1
"""Seconds; a hook that lets nothing else run for longer is named in a warning."""


def watch_for_slow_hooks(coordinator: SessionCoordinator) -> None:
    """Look on while the hooks of a session run."""
    suspicions = Suspicions()
    coordinator.watch_hooks(lambda: SlowHookWatch(suspicions))


class Suspicions:
    """What a session knows of its hooks so far."""

    def __init__(self) -> None:
        self.suspects: set[int] = set()
        self._cleared: set[int] = set()

    def suspect(self, handler: HookHandler) -> None:
        """A hook ran for long, perhaps waiting."""
        if handler.id not in self._cleared:
            self.suspects.add(handler.id)

    def settle(self, handler: HookHandler, seconds: float) -> None:
        """The longest step of a suspect is known: warn, or clear it."""
        self.suspects.discard(handler.id)
        self._cleared.add(handler.id)
        if seconds > TOO_LONG:
            logger.warning(
                "Hook '%s' on '%s' held the event loop for %d ms; nothing else could run. "
                "Await what is slow, or move it to a thread with asyncio.to_thread",
                handler.name,
                handler.event,
                seconds * 1000,
            )


class SlowHookWatch:
    """Looks on while the hooks of one dispatch run, one at a time."""

    __slots__ = ("_longest", "_started", "_suspicions")

    def __init__(self, suspicions: Suspicions) -> None:
        self._suspicions = suspicions
        self._longest: float | None = None

    def begin(self, handler: HookHandler) -> Step | None:
        """A hook begins; a suspect is timed step by step."""
        self._started = perf_counter()
        if handler.id not in self._suspicions.suspects:
            return None
        self._longest = 0.0
        return self._take_step

    def end(self, handler: HookHandler) -> None:
        """A hook ended."""
        seconds = perf_counter() - self._started
        longest, self._longest = self._longest, None
        if seconds <= TOO_LONG:
            return
        if longest is None:
            self._suspicions.suspect(handler)
        else:
            # A plain function has no steps: all of its time was one.
            self._suspicions.settle(handler, longest or seconds)

    def _take_step(self, seconds: float) -> None:
        self._longest = max(self._longest or 0.0, seconds)
