"""A trail in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import AuditUnavailable
from amplifier_core.trail import Level, OnFailure
from amplifier_core.utils import safe_repr, timestamp


class MemoryAudit:
    """A trail in a list: it behaves like a log on disk, fails on demand, and goes with the process.

    Bodies are kept as JSON from the moment of the call, so that what changes later does not change
    what was recorded.
    """

    def __init__(self, level: Level = "normal", on_failure: OnFailure = "deny") -> None:
        self.level: Level = level
        self.on_failure: OnFailure = on_failure
        self.lines: list[bytes] = []
        self.durable = 0
        self.closed = False
        self._failure: str | None = None

    @property
    def records(self) -> list[dict[str, Any]]:
        """All records, as whoever reads the log would see them."""
        return [json.loads(line) for line in self.lines]

    def of_type(self, type: str) -> list[dict[str, Any]]:
        """The records of one type."""
        return [record for record in self.records if record["type"] == type]

    def fail(self, reason: str = "the disk is full") -> None:
        """From now on behave like a log whose disk has failed."""
        self._failure = reason

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """Add a record; returns its place in the order."""
        self._refuse_if_failed()
        source = {"session": session, "turn": turn, "event": event, "hook": hook}
        record = {"type": type, "time": timestamp(), **source, "registration": registration}
        self.lines.append(_to_json({**record, "body": body}))
        return len(self.lines) - 1

    async def commit(self, sequence: int | None = None) -> None:
        """Remember how far the caller may rely on the trail."""
        self._refuse_if_failed()
        wanted = len(self.lines) if sequence is None else sequence + 1
        self.durable = max(self.durable, wanted)

    async def close(self) -> None:
        """Take no more records."""
        self.closed = True

    def _refuse_if_failed(self) -> None:
        if self._failure:
            raise AuditUnavailable(f"The audit trail takes no records: {self._failure}")
        if self.closed:
            raise AuditUnavailable("The audit trail takes no records: it is closed")


def _to_json(record: dict[str, Any]) -> bytes:
    try:
        return json.dumps(record, default=safe_repr).encode()
    except (TypeError, ValueError, RecursionError):  # odd keys, cycles, great depth
        return json.dumps({**record, "body": {"repr": safe_repr(record["body"])}}).encode()
