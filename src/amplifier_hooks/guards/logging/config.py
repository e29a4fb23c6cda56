"""The options of hooks-logging."""

from __future__ import annotations

import string
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

NAME = "hooks-logging"
STDERR = "stderr"
LevelName = Literal["debug", "info", "warning", "error"]
SYNONYMS = {"session_log_template": "path"}
"""What modules of the ecosystem call these options."""

_PLACEHOLDERS = ("session_id", "project", "date", "pid")


class Config(BaseModel):
    """The options of hooks-logging."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = ".amplifier/logs/{session_id}.jsonl"
    events: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    level: LevelName = "debug"
    levels: dict[str, LevelName] = Field(default_factory=dict)
    max_bytes: int = Field(10_000_000, ge=1000)
    backups: int = Field(5, ge=0, le=100)
    max_line_bytes: int = Field(65_536, ge=500)
    flush_seconds: float = Field(0.5, gt=0, le=60)
    max_waiting: int = Field(10_000, ge=1)
    priority: int = -900

    @field_validator("path")
    @classmethod
    def _check_path(cls, value: str) -> str:
        if not value.strip() or "\0" in value:
            raise ValueError(f"must be a file name or {STDERR!r}")
        try:
            names = [name for _, name, _, _ in string.Formatter().parse(value) if name is not None]
        except ValueError as wrong:
            raise ValueError(f"is not a pattern: {wrong}") from None
        if unknown := sorted(set(names) - set(_PLACEHOLDERS)):
            raise ValueError(
                f"unknown placeholder {', '.join(unknown)}; have {', '.join(sorted(_PLACEHOLDERS))}"
            )
        return value
