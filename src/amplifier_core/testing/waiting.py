"""Waiting until something holds."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable


async def wait_for(
    condition: Callable[[], bool | Awaitable[bool]], timeout: float = 1.0, interval: float = 0.01
) -> bool:
    """Whether something comes to hold in time; the condition may be async."""
    try:
        async with asyncio.timeout(timeout) as limit:
            while not await _holds(condition):  # noqa: ASYNC110 - nobody tells when it holds
                await asyncio.sleep(interval)
    except TimeoutError:
        if not limit.expired():  # the condition's own
            raise
        return False
    return True


async def _holds(condition: Callable[[], bool | Awaitable[bool]]) -> bool:
    holds = condition()
    return await holds if inspect.isawaitable(holds) else bool(holds)
