"""Long polls: the same question, asked again whenever something may have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from amplifier_hooks.server.live.feed import ChangeFeed

T = TypeVar("T")

MAX_WAIT = 60.0
# The row is the truth, and news of it may get lost. It is rare: after an interruption of the
# listening everybody is woken, so thousands of waiters need not all look every second.
_POLL_SECONDS = 5.0


async def wait_while(
    feed: ChangeFeed,
    subject: tuple[str, str],
    read: Callable[[], Awaitable[T]],
    unchanged: Callable[[T], bool],
    seconds: float,
) -> T:
    """What `read` returns once it has changed, or when the time is over or the server closes."""
    end = monotonic() + min(seconds, MAX_WAIT)
    with feed.watch(*subject) as changed:
        while True:
            value = await read()
            left = end - monotonic()
            if left <= 0 or not unchanged(value) or feed.closing.is_set():
                return value
            try:
                async with asyncio.timeout(min(left, _POLL_SECONDS)):
                    await changed.wait()
            except TimeoutError:
                continue
            changed.clear()
