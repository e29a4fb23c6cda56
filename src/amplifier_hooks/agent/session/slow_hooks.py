"""Finding hooks that block the event loop: each is named in one warning.

A hook that took long may only have waited, which blocks nothing. So the next time it runs, it is
timed step by step: nothing else can run during a step.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from time import perf_counter
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.dispatch import Follow
from amplifier_core.registration import HookHandler

logger = logging.getLogger(__name__)

TOO_LONG = 0.1
"""Seconds; a hook that lets nothing else run for longer is named in a warning."""


def watch_for_slow_hooks(coordinator: SessionCoordinator) -> None:
    """Time the hooks of a session while they run."""
    suspicions = Suspicions()
    coordinator.watch_hooks(lambda: SlowHookWatch(suspicions))


class Suspicions:
    """Which hooks of a session may block the loop, and which are cleared."""

    def __init__(self) -> None:
        self.suspects: set[int] = set()
        self._cleared: set[int] = set()

    def suspect(self, handler: HookHandler) -> None:
        """Note that a hook took long; perhaps it only waited."""
        if handler.id not in self._cleared:
            self.suspects.add(handler.id)

    def settle(self, handler: HookHandler, seconds: float) -> None:
        """Decide on a suspect by its longest step: warn, or clear it."""
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
    """Times the hooks of one dispatch, which run one at a time."""

    __slots__ = ("_longest", "_started", "_suspicions")

    def __init__(self, suspicions: Suspicions) -> None:
        self._suspicions = suspicions
        self._longest: float | None = None

    def begin(self, handler: HookHandler) -> Follow | None:
        """Note that a hook begins; returns what times the steps of a suspect."""
        self._started = perf_counter()
        if handler.id not in self._suspicions.suspects:
            return None
        self._longest = 0.0
        return self._follow

    def _follow(self, work: Awaitable[Any]) -> Awaitable[Any]:
        return TimedSteps(work, self._take_step)

    def end(self, handler: HookHandler) -> None:
        """Note that a hook ended."""
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


class TimedSteps:
    """An awaitable that is timed step by step: so long it held the loop between two waits."""

    __slots__ = ("_tell", "_work")

    def __init__(self, work: Awaitable[Any], tell: Callable[[float], None]) -> None:
        self._work = work
        self._tell = tell

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._work.__await__()
        advance: Callable[[], Any] = partial(next, steps)
        while True:
            started = perf_counter()
            try:
                waiting = advance()
            except StopIteration as done:
                return done.value
            finally:
                self._tell(perf_counter() - started)
            try:
                yield waiting
                advance = partial(next, steps)
            except BaseException as error:  # noqa: BLE001 - cancellation too is the hook's to see
                advance = partial(_throw, steps, error)


def _throw(steps: Any, error: BaseException) -> Any:
    return steps.throw(error)
