"""The log of a turn's edits."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.cli.commands.chat.slash_commands import EditLog


async def test_edits_are_noted_with_their_first_time(tmp_path: Path, monkeypatch: Any) -> None:
    """Of tools that edit, if they did, and even if a hook withholds what came of it."""

    async def withhold(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="no")

    monkeypatch.chdir(tmp_path)
    seconds = count()
    log = EditLog(lambda: datetime.fromtimestamp(next(seconds), UTC))
    coordinator = TestCoordinator()
    coordinator.hooks.register("tool:post", withhold)
    log.watch(coordinator.hooks)
    for tool, path, success in [
        ("Write", "a", True),
        ("Edit", "b", False),
        ("Read", "c", True),
        ("MultiEdit", "./a", True),
        ("Edit", "b", True),
    ]:
        data = {"tool_name": tool, "tool_input": {"file_path": path}, "success": success}
        await coordinator.hooks.emit("tool:post", data)
    times = {path.name: time.timestamp() for path, time in log.first_edits.items()}
    assert times == {"a": 0.0, "b": 2.0}
    log.start_turn()
    assert log.first_edits == {}
