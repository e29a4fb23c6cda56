"""The options of hooks-shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_hooks.machine.files import normalize

NAME = "hooks-shell"
DialectName = Literal["auto", "claude", "codex", "gemini", "cursor", "copilot"]


class Config(BaseModel):
    """Files in which hooks are written, hooks written here, or both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: list[str] = Field(default_factory=list)
    hooks: dict[str, Any] = Field(default_factory=dict)
    dialect: DialectName = "auto"
    priority: int = 50
    timeout: float | None = Field(None, gt=0, allow_inf_nan=False)
    fail_closed: bool = False
    project_dir: str | None = None
    output_limit: int = Field(100_000, ge=1000)

    def find_base(self, folder: str | Path) -> Path:
        """Where relative names of files start, and where hooks run."""
        return normalize(folder / Path(self.project_dir or ".").expanduser())
