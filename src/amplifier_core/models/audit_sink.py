"""Where a session writes its records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

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


class NullSink:
    """Where a session writes that keeps no trail."""

    level: Level = "decisions"
    on_failure: OnFailure = "warn"

    def append(self, type: str, body: Mapping[str, Any], **source: Any) -> int:
        """Forget the record."""
        return 0

    async def commit(self, sequence: int | None = None) -> None:
        """There is nothing to wait for."""

    async def close(self) -> None:
        """There is nothing to close."""
