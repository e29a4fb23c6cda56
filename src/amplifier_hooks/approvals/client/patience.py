"""Trying again: a server that restarts is back in a moment."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from amplifier_hooks.approvals.stores.errors import StoreUnavailable, TooMany

T = TypeVar("T")

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


async def persist(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    """What the attempt returns; while the server does not answer, it is made again.

    After that many seconds the last failure is raised.
    """
    end = monotonic() + seconds
    pause = FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except (StoreUnavailable, TooMany):
            # Many agents whose server comes back must not all knock at the same moment.
            delay = pause * random.uniform(0.5, 1.0)
            if monotonic() + delay >= end:
                raise
        await asyncio.sleep(delay)
        pause = min(2 * pause, LONGEST_PAUSE)
