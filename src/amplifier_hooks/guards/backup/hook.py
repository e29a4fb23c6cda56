"""Copies what is about to be overwritten."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.backup.config import NAME, SYNONYMS, Config
from amplifier_hooks.guards.backup.store import (
    BackupError,
    locate_store,
    prune,
    save,
)
from amplifier_hooks.guards.policy.paths import is_within, resolve
from amplifier_hooks.guards.policy.tool_calls import (
    EDITING_TOOLS,
    TOOLS,
    find_path,
    format_path,
    is_reading,
    list_paths,
)
from amplifier_hooks.machine.text import to_one_line
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.subscription import get_session_id, get_working_dir, subscribe


class BackupHook:
    """Copies what is about to be overwritten."""

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config

    async def on_tool_pre(self, event: str, data: dict[str, Any]) -> HookResult:
        for path in self._list_targets(data):
            try:
                async with asyncio.timeout(self._config.timeout):
                    await asyncio.to_thread(self._copy, path, data)
            except TimeoutError:
                return self._warn(path, f"it took longer than {self._config.timeout:g} seconds")
            except (BackupError, OSError, ValueError) as failure:
                return self._warn(path, str(failure))
        return HookResult(action="continue")

    def _get_base(self) -> Path:
        return Path(get_working_dir(self._coordinator)).resolve()

    def _list_targets(self, data: dict[str, Any]) -> list[Path]:
        """The real paths of the files, as the tool will find them."""
        tool, given = data.get("tool_name"), data.get("tool_input")
        known = self._config.tools
        if tool in (EDITING_TOOLS if known is None else known):
            return [one for one in [self._resolve(find_path(given))] if one is not None]
        if known is not None or tool in TOOLS or is_reading(str(tool)):
            return []
        # Nobody has described this tool: what it may change is copied if there is something.
        with suppress(ValueError):
            found = dict.fromkeys(self._resolve(one) for one in list_paths(given))
            return [one for one in found if one and one.is_file() and self._is_inside(one)]
        return []

    def _resolve(self, path: str | None) -> Path | None:
        try:
            return None if path is None else resolve(path, self._get_base())
        except ValueError:
            return None  # the tool refuses it too

    def _is_inside(self, path: Path) -> bool:
        return is_within(path, self._list_roots())

    def _list_roots(self) -> list[Path]:
        return [resolve(root, self._get_base()) for root in self._config.roots or ["."]]

    def _copy(self, path: Path, data: dict[str, Any]) -> None:
        if not self._is_inside(path):
            raise BackupError(f"it is outside {', '.join(map(str, self._list_roots()))}")
        directory = self._get_directory()
        saved = save(
            directory,
            path,
            tool=str(data["tool_name"]),
            session_id=get_session_id(self._coordinator, data),
            max_file_bytes=min(self._config.max_file_bytes, self._config.max_bytes),
        )
        if saved is not None:
            prune(directory, self._config.limits)

    def _get_directory(self) -> Path:
        """Where copies go; a relative directory that a link leads elsewhere is not used."""
        base, configured = self._get_base(), self._config.directory
        if configured is None:
            return locate_store(base)
        directory = resolve(configured, base)
        if not Path(configured).is_absolute() and not is_within(directory, [base]):
            raise BackupError(f"{configured!r} leads out of the working directory")
        return directory

    def _warn(self, path: Path, reason: str) -> HookResult:
        shown = to_one_line(format_path(path, str(self._get_base())), 200)
        return HookResult(
            action="continue",
            user_message=f"No backup of {shown} was made: {to_one_line(reason, 300)}",
            user_message_level="warning",
        )


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME, SYNONYMS)
    hook = BackupHook(coordinator, settings)
    return subscribe(coordinator, NAME, settings.priority, [(TOOL_PRE, hook.on_tool_pre)])
