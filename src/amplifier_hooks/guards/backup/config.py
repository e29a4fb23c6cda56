"""The options of hooks-backup."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from amplifier_hooks.guards.backup.store import (
    Limits,
)

NAME = "hooks-backup"
DIRECTORY = ".amplifier/backups"
"""Where copies went by default when they still lay within an agent's reach."""

SYNONYMS = {"backup_dir": "directory"}
"""What modules of the ecosystem call these options."""


class Config(BaseModel):
    """The options of hooks-backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    directory: str | None = None
    roots: list[str] | None = None
    tools: list[str] | None = None
    """By default those of ours that change files, and all others that may change what they name."""
    max_count: int = Field(500, ge=1)
    max_bytes: int = Field(200_000_000, ge=1)
    max_age_days: float = Field(30.0, gt=0)
    max_file_bytes: int = Field(10_000_000, ge=1)
    timeout: float = Field(10.0, gt=0)
    priority: int = 950  # behind the guards and the hooks that change the call

    @property
    def limits(self) -> Limits:
        return Limits(self.max_count, self.max_bytes, self.max_age_days)
