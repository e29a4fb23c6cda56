"""The log of a turn's edits: which files its tools changed, and when first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_core.events import TOOL_POST
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_hooks.cli.display.observer import LAST
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, find_path

NAME = "cli-edits"


class EditLog:
    """Notes the edits of the last turn, those of sub-agents included."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.first_edits: dict[Path, datetime] = {}
        """When each file was changed first, in the order of that."""
        self._clock = clock

    def watch(self, hooks: HookRegistry) -> None:
        """Listen to the results of tools."""
        # First: a hook that withholds the result does not undo the edit.
        hooks.register(TOOL_POST, self._note, -LAST, NAME)

    def start_turn(self) -> None:
        """Forget the turn before."""
        self.first_edits.clear()

    async def _note(self, event: str, data: Mapping[str, Any]) -> HookResult:
        path = find_path(data.get("tool_input"))
        if path and data.get("tool_name") in EDITING_TOOLS and data.get("success", True):
            self.first_edits.setdefault(resolve(path, Path.cwd()), self._clock())
        return CONTINUE
