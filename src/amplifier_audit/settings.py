"""Settings of a log's writer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from amplifier_audit.anchors import Anchor
from amplifier_audit.checkpoint import Signer
from amplifier_audit.errors import AuditError

Level = Literal["decisions", "normal", "full"]
OnFailure = Literal["deny", "warn"]
Values = Literal["inline", "committed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """All that can be chosen; docs/audit.md says what each one means."""

    level: Level = "normal"
    on_failure: OnFailure = "deny"
    values: Values = "inline"
    checkpoint_every: int = 1000
    checkpoint_seconds: float = 1.0
    segment_bytes: int = 64 * 1024 * 1024
    daily: bool = True
    retain_segments: int | None = None
    gather_seconds: float = 0.02
    sync_timeout: float = 10.0
    backlog_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        for name, kind in (("level", Level), ("on_failure", OnFailure), ("values", Values)):
            if (given := getattr(self, name)) not in get_args(kind):
                raise AuditError(f"{name} is one of {', '.join(get_args(kind))}, got {given!r}")
        for name in ("sync_timeout", "segment_bytes", "backlog_bytes"):
            if not (given := getattr(self, name)) > 0:
                raise AuditError(f"{name} is more than 0, got {given!r}")
        if not 1 <= self.checkpoint_every <= 1000:
            raise AuditError(f"checkpoint_every is 1 to 1000, got {self.checkpoint_every}")
        if self.retain_segments is not None and self.retain_segments < 1:
            raise AuditError(f"retain_segments is at least 1, got {self.retain_segments}")


class Options(TypedDict, total=False):
    """What AuditLog takes by name."""

    signer: Signer | None
    anchors: tuple[Anchor, ...]
    alarm: Callable[[str], None] | None
    name: str | None
    watch: Iterable[str | os.PathLike[str]]
