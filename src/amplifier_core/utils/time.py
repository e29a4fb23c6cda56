"""The time, as events carry it."""

from __future__ import annotations

import time
from collections.abc import Callable


def clock(now_ns: Callable[[], int] = time.time_ns) -> Callable[[], str]:
    """A function that tells the time, such as `2026-11-15T21:49:56.290+00:00`.

    The text is formatted once per millisecond and handed out again until the next.
    """
    # One value, so that threads never see the text of another time; comparing costs less than
    # finding out which millisecond it is.
    last = 0, 0, ""

    def now() -> str:
        nonlocal last
        since, until, text = last
        spent = now_ns()
        if not since <= spent < until:
            millisecond = spent // 1_000_000
            second, rest = divmod(millisecond, 1000)
            whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            text = f"{whole}.{rest:03d}+00:00"
            last = millisecond * 1_000_000, (millisecond + 1) * 1_000_000, text
        return text

    return now


timestamp = clock()
