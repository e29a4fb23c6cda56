"""A clock that jumps of the wall clock do not move, the same for all processes since one boot.

The first process of a boot compares the wall clock with the time since boot and keeps the
difference in the database. From then on only the time since boot counts, which goes on while the
machine sleeps and which nobody can set.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
import uuid
from collections.abc import Callable
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

Clock = Callable[[], float]
"""Seconds since 1970."""


class BootClock:
    """Counts on from the anchor of this boot; remembers in the database how far it came."""

    def __init__(
        self,
        wall: Clock = time.time,
        since_boot: Clock | None = None,
        boot: str | None = None,
    ) -> None:
        self._wall = wall
        self._since_boot = since_boot or read_time_since_boot
        self._boot = boot or read_boot_id()
        self._anchor = 0.0
        self._latest = 0.0
        self._saved = 0.0

    def __call__(self) -> float:
        self._latest = max(self._latest, self._anchor + self._since_boot())
        return self._latest

    def attach(self, connection: sqlite3.Connection) -> None:
        """Take over this boot's anchor from the database, or be the one who sets it."""
        connection.execute(
            "CREATE TABLE IF NOT EXISTS boot_clock "
            "(boot TEXT PRIMARY KEY, anchor REAL NOT NULL, latest REAL NOT NULL)"
        )
        found = connection.execute(
            "SELECT anchor FROM boot_clock WHERE boot = ?", (self._boot,)
        ).fetchone()
        self._anchor = found["anchor"] if found else self._set_anchor(connection)
        self._saved = self()

    def follow(self, connection: sqlite3.Connection) -> None:
        """Take over this boot's anchor if there is one, and change nothing."""
        self._anchor = self._find_anchor(connection)

    def _find_anchor(self, connection: sqlite3.Connection) -> float:
        now = self._wall() - self._since_boot()
        try:
            found = connection.execute(
                "SELECT anchor FROM boot_clock WHERE boot = ?", (self._boot,)
            ).fetchone()
        except sqlite3.OperationalError:  # the store has another clock
            return now
        return found["anchor"] if found else now

    def _set_anchor(self, connection: sqlite3.Connection) -> float:
        before = connection.execute("SELECT max(latest) AS latest FROM boot_clock").fetchone()
        # `latest` is saved about once a second, so what was seen may be a second past it.
        begin = max(self._wall(), (before["latest"] or 0.0) + 1.0)
        anchor = begin - self._since_boot()
        connection.execute("DELETE FROM boot_clock WHERE latest < ?", (begin - 365 * 24 * 3600,))
        connection.execute(
            "INSERT INTO boot_clock (boot, anchor, latest) VALUES (?, ?, ?)",
            (self._boot, anchor, begin),
        )
        return anchor

    def save(self, connection: sqlite3.Connection) -> None:
        """Within a transaction: keep how far it is, about once a second."""
        now = self()
        if now - self._saved >= 1.0:
            connection.execute(
                "UPDATE boot_clock SET latest = max(latest, ?) WHERE boot = ?", (now, self._boot)
            )
            self._saved = now


def read_time_since_boot() -> float:
    """Seconds since boot, sleep included where the system counts it."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


def read_boot_id() -> str:
    """What tells this boot from others; where there is no such id, this opening from others."""
    with contextlib.suppress(OSError):
        return _BOOT_ID.read_text().strip()
    return f"opened-{uuid.uuid4()}"
