"""Counts the records since the last signature: a writer promises to sign often enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amplifier_audit.format.own_records import OWN_TYPES

DEFAULT_INTERVAL = 1000


@dataclass(slots=True)
class Unsigned:
    """So many records may come without a signature, and so many have come.

    The log's own records count apart: a crash or a removal may add some at any time.
    """

    interval: int = DEFAULT_INTERVAL
    promised: int = DEFAULT_INTERVAL
    records: int = 0
    own: int = 0

    @property
    def left(self) -> int:
        """How many records may still come."""
        return self.interval - self.records

    @property
    def too_many(self) -> bool:
        """Whether the promise is broken."""
        return self.records > self.interval or self.own > DEFAULT_INTERVAL

    def count(self, type: str) -> None:
        """One more record."""
        if type in OWN_TYPES:
            self.own += 1
        else:
            self.records += 1

    def restart(self) -> None:
        """A signature came."""
        self.records = self.own = 0
        self.interval = self.promised

    def promise(self, interval: Any, *, first: bool) -> None:
        """A writer says how often it signs; what is no such number changes nothing."""
        if isinstance(interval, int) and interval > 0:
            self.promised = min(interval, DEFAULT_INTERVAL)
            # What a writer with a longer interval left unsigned stands before the next signature.
            self.interval = self.promised if first else max(self.interval, self.promised)
