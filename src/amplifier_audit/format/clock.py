"""The time of a record."""

from __future__ import annotations

import time
from collections.abc import Callable


class NanoClock:
    """ISO 8601 in UTC with nanoseconds; the date is formatted once a second."""

    __slots__ = ("_now", "_prefix", "_second")

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._second = -1
        self._prefix = ""

    def __call__(self) -> str:
        second, fraction = divmod(self._now(), 1_000_000_000)
        if second != self._second:
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._prefix}.{fraction:09d}Z"
