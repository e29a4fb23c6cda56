"""Where the coordinator writes the trail, and an implementation that keeps it in memory."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.format.chain import Chain
from amplifier_audit.format.encoding import encode_body
from amplifier_audit.format.record import Record, encode_source, parse
from amplifier_audit.format.record_types import OWN_TYPES

Level = Literal["decisions", "normal", "full"]
OnFailure = Literal["deny", "warn"]


@runtime_checkable
class AuditSink(Protocol):
    """Takes records. `append` is cheap and orders them; `commit` waits until they are safe."""

    level: Level
    on_failure: OnFailure

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
        """The sequence of the record. Raises AuditUnavailable once the log has failed."""
        ...

    async def commit(self, sequence: int | None = None) -> None:
        """Return when that record, or all, are durable; AuditUnavailable if they cannot be."""
        ...

    async def close(self) -> None: ...


class MemoryAudit:
    """A sink without a file: the same lines, the same chain, gone with the process."""

    def __init__(self, level: Level = "normal", on_failure: OnFailure = "deny") -> None:
        self.level: Level = level
        self.on_failure: OnFailure = on_failure
        self.lines: list[bytes] = []
        self.durable = 0
        self.closed = False
        self._failure: str | None = None
        self._chain = Chain(new_log_id())

    @property
    def records(self) -> list[Record]:
        """All records, as whoever reads the log would see them."""
        return [parse(line) for line in self.lines]

    def of_type(self, type: str) -> list[Record]:
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
        """Add a record."""
        self._refuse_if_failed()
        source = encode_source(foreign(type), session, turn, event, hook, registration)
        sequence = self._chain.size
        self.lines.append(self._chain.extend(source, encode_body(body)))
        return sequence

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


def new_log_id() -> str:
    """A random id for a log."""
    return secrets.token_hex(16)


def foreign(type: Any) -> Any:
    """The type as it is recorded: what the log says of itself, only the log can say."""
    return f"x_{type}" if isinstance(type, str) and type in OWN_TYPES else type
