"""Trying again what did not answer: one back-off for links, servers and databases."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from time import monotonic
from typing import TypeVar

from amplifier_hooks.approvals.errors import StoreUnavailable

T = TypeVar("T")

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


def generate_pauses(first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> Iterator[float]:
    """Seconds to wait after each failure in a row: without end, and twice as long each time."""
    pause = first
    while True:
        # Many agents whose server comes back must not all knock at the same moment.
        yield pause * random.uniform(0.5, 1.0)
        pause = min(2 * pause, longest)


async def retry(
    attempt: Callable[[], Awaitable[T]],
    seconds: float,
    *,
    errors: tuple[type[Exception], ...] = (StoreUnavailable,),
    longest: float = LONGEST_PAUSE,
    on_failure: Callable[[Exception], Awaitable[None]] | None = None,
) -> T:
    """What the attempt returns; while it fails with one of these errors, it is made again.

    After that many seconds the last failure is raised. `on_failure` is awaited before each pause.
    """
    end = monotonic() + seconds
    pauses = generate_pauses(min(FIRST_PAUSE, longest), longest)
    while True:
        try:
            return await attempt()
        except errors as error:
            pause = next(pauses)
            if monotonic() + pause >= end:
                raise
            if on_failure is not None:
                await on_failure(error)
        await asyncio.sleep(pause)
