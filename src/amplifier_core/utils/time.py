"""The time, as events carry it."""

from __future__ import annotations

import time
from collections.abc import Callable


def clock(now_ns: Callable[[], int] = time.time_ns) -> Callable[[], str]:
    """A function that tells the time, such as `2026-11-15T21:49:56.290+00:00`.

    The text is formatted once per millisecond and handed out again until the next.
    """
    last, text = -1, ""

    def now() -> str:
        nonlocal last, text
        millisecond = now_ns() // 1_000_000
        if millisecond != last:
            second, rest = divmod(millisecond, 1000)
            whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            text = f"{whole}.{rest:03d}+00:00"
            last = millisecond
        return text

    return now


timestamp = clock()
