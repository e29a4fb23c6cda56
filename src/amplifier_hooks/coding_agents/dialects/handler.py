"""One external hook, whatever agent its file was written for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Handler:
    """What to run, when, and what its failure means."""

    dialect: str
    native: str  # the event's name in that dialect
    where: str  # for messages: file and position
    command: str | None = None
    args: tuple[str, ...] | None = None  # run without a shell
    run: str | tuple[str, ...] | None = None  # in their place, with trusted copies of the scripts
    expects: Mapping[Path, bytes | None] = field(default_factory=dict)  # what must not have changed
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    header_vars: frozenset[str] = frozenset()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    matcher: str | None = None
    condition: str | None = None
    timeout: float = 60.0
    fail_closed: bool = False
    background: bool = False
    once: bool = False
    lane: str | None = None  # handlers of one lane run in order
    loop_limit: int = 8

    @property
    def label(self) -> str:
        """The short name a person recognises it by."""
        return self.url or self.command or " ".join(self.args or ())
