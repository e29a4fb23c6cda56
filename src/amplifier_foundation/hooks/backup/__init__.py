"""hooks-backup: copy a file before Write, Edit or MultiEdit overwrites it.

Listens to  tool:pre
Answers     continue, always; with a message when a copy could not be made
Configure   directory, roots, tools, max_count, max_bytes, max_age_days, max_file_bytes, timeout
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup
from amplifier_core.models import HookResult
from amplifier_foundation.hooks.backup.store import (
    Backup,
    BackupError,
    Limits,
    find_backup,
    list_backups,
    prune,
    restore,
    save,
    surplus,
)
from amplifier_foundation.machine.text import to_one_line
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.modules.subscription import session_of, subscribe, working_dir
from amplifier_foundation.policy.edited_files import EDITING_TOOLS, shown_path
from amplifier_foundation.policy.paths import is_within, resolve

NAME = "hooks-backup"
DIRECTORY = ".amplifier/backups"

__all__ = [
    "Backup",
    "BackupError",
    "Limits",
    "find_backup",
    "list_backups",
    "mount",
    "restore",
    "surplus",
]


class Config(BaseModel):
    """The options of hooks-backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    directory: str = DIRECTORY
    roots: list[str] | None = None
    tools: list[str] = Field(default_factory=lambda: sorted(EDITING_TOOLS))
    max_count: int = Field(500, ge=1)
    max_bytes: int = Field(200_000_000, ge=1)
    max_age_days: float = Field(30.0, gt=0)
    max_file_bytes: int = Field(10_000_000, ge=1)
    timeout: float = Field(10.0, gt=0)
    priority: int = 950  # behind the guards and the hooks that change the call

    @property
    def limits(self) -> Limits:
        return Limits(self.max_count, self.max_bytes, self.max_age_days)


class BackupHook:
    """Copies what is about to be overwritten."""

    def __init__(self, coordinator: Any, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config

    async def on_tool_pre(self, event: str, data: dict[str, Any]) -> HookResult:
        path = self._target(data)
        if path is None:
            return HookResult(action="continue")
        try:
            async with asyncio.timeout(self._config.timeout):
                await asyncio.to_thread(self._copy, path, data)
        except TimeoutError:
            return self._not_made(path, f"it took longer than {self._config.timeout:g} seconds")
        except (BackupError, OSError, ValueError) as failure:
            return self._not_made(path, str(failure))
        return HookResult(action="continue")

    def _base(self) -> Path:
        return Path(working_dir(self._coordinator)).resolve()

    def _target(self, data: dict[str, Any]) -> Path | None:
        """The real path of the file, as the tool will find it."""
        given = data.get("tool_input")
        if data.get("tool_name") not in self._config.tools or not isinstance(given, dict):
            return None
        path = given.get("file_path")
        try:
            return resolve(path, self._base()) if isinstance(path, str) else None
        except ValueError:
            return None  # the tool refuses it too

    def _copy(self, path: Path, data: dict[str, Any]) -> None:
        roots = [resolve(root, self._base()) for root in self._config.roots or ["."]]
        if not is_within(path, roots):
            raise BackupError(f"it is outside {', '.join(map(str, roots))}")
        directory = self._directory()
        saved = save(
            directory,
            path,
            tool=str(data["tool_name"]),
            session_id=session_of(self._coordinator, data),
            max_file_bytes=min(self._config.max_file_bytes, self._config.max_bytes),
        )
        if saved is not None:
            prune(directory, self._config.limits)

    def _directory(self) -> Path:
        """Where copies go; a relative directory that a link leads elsewhere is not used."""
        base = self._base()
        directory = resolve(self._config.directory, base)
        if not Path(self._config.directory).is_absolute() and not is_within(directory, [base]):
            raise BackupError(f"{self._config.directory!r} leads out of the working directory")
        return directory

    def _not_made(self, path: Path, reason: str) -> HookResult:
        shown = to_one_line(shown_path(path, str(self._base())), 200)
        return HookResult(
            action="continue",
            user_message=f"No backup of {shown} was made: {to_one_line(reason, 300)}",
            user_message_level="warning",
        )


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = parse_config(Config, config, NAME)
    hook = BackupHook(coordinator, settings)
    return subscribe(coordinator, NAME, settings.priority, [(TOOL_PRE, hook.on_tool_pre)])
