"""The face of a coordinator over a real registry: all that an observing module may rely on."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult


class Bench:
    """A session without an agent: the test plays the agent by emitting its events."""

    def __init__(self, directory: Path, session_id: str | None = "session-1") -> None:
        self.hooks = HookRegistry()
        self.session_id = session_id
        self.parent_id = None
        self.session_state: dict[str, Any] = {}
        self.config: dict[str, Any] = {}
        self._capabilities: dict[str, Any] = {"session.working_dir": str(directory)}
        if session_id is not None:
            self.hooks.set_default_fields(session_id=session_id)

    def register_capability(self, name: str, value: Any) -> None:
        self._capabilities[name] = value

    def get_capability(self, name: str) -> Any:
        return self._capabilities.get(name)

    async def emit(self, event: str, /, **data: Any) -> HookResult:
        return await self.hooks.emit(event, data)

    async def tool(self, name: str, given: dict[str, Any], **more: Any) -> list[HookResult]:
        """One tool call, before and after; a refused one has no after."""
        call = {"tool_name": name, "tool_input": given, **more}
        before = await self.emit("tool:pre", **call)
        if before.action in {"deny", "ask_user"}:
            return [before]
        result = {"success": True, "output": "done", "error": None}
        after = await self.emit(
            "tool:post", **call, tool_result=result, success=True, duration_ms=1
        )
        return [before, after]


@asynccontextmanager
async def mounted(
    module: str, bench: Bench, config: dict[str, Any] | None = None
) -> AsyncIterator[Bench]:
    """A module mounted as a session would, and cleaned up as a session would."""
    mount = importlib.import_module(f"amplifier_foundation.hooks.{module}").mount
    cleanup = await mount(bench, config)
    try:
        yield bench
    finally:
        await finish(cleanup)


async def finish(cleanup: Callable[[], Any] | None) -> None:
    """Run a clean-up, whichever kind it is."""
    outcome = cleanup() if cleanup is not None else None
    if asyncio.iscoroutine(outcome):
        await outcome


async def until(condition: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait for something that happens beside the test."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)
