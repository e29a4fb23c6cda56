"""The clock of a session: the machine's, unless its host offers another one."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable

from amplifier_core.interfaces import Host

CAPABILITY = "session.clock"
"""A function that returns the time in seconds since 1970: for sessions that are told again."""

Clock = Callable[[], float]


def find_clock(host: Host) -> Clock:
    """What to measure intervals with, in seconds."""
    offered: Clock | None = host.get_capability(CAPABILITY)
    return time.monotonic if offered is None else offered


def find_calendar(host: Host) -> Callable[[], datetime.datetime]:
    """What tells the date and the time, in UTC."""
    offered: Clock | None = host.get_capability(CAPABILITY)

    def get_now() -> datetime.datetime:
        if offered is None:
            return datetime.datetime.now(datetime.UTC)
        return datetime.datetime.fromtimestamp(offered(), datetime.UTC)

    return get_now
