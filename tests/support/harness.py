"""The one harness: a real coordinator, with everything around it that a test wants to look at."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from amplifier_core.answers import Outcome
from amplifier_core.models import HookResult
from amplifier_core.testing import (
    MemoryAudit,
    MemoryContext,
    RecordingDisplay,
    TestCoordinator,
)
from tests.support.hooks import POST, PRE, Data


class Harness:
    """A session without an agent: the test plays the agent.

    `settings` are those of the plan's `session` section. `folder` is the working directory.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        approval: Any = None,
        audit: Any = None,
        context: Any = None,
        screen: Any = None,
        session_id: str = "test-session",
        **settings: Any,
    ) -> None:
        self.approval = approval
        self.context: Any = MemoryContext() if context is None else context
        self.screen: Any = RecordingDisplay() if screen is None else screen
        self.trail: MemoryAudit = MemoryAudit() if audit is None else audit
        self.coordinator = TestCoordinator(
            context=self.context,
            approval_system=approval,
            display_system=self.screen,
            audit=self.trail,
            session_id=session_id,
            config={"session": settings} if settings else None,
        )
        self.hooks = self.coordinator.hooks
        if folder is not None:
            self.coordinator.register_capability("session.working_dir", str(folder))

    # What the agent does

    async def run(self, event: str, /, **data: Any) -> HookResult:
        """One event, its answers carried out."""
        return await self.coordinator.execute_with_hooks(event, data)

    async def judge(self, event: Any, /, **data: Any) -> Outcome:
        """The same, with everything that is known of the outcome."""
        return await self.coordinator.judge(event, data)

    async def emit(self, event: str, /, **data: Any) -> HookResult:
        """One event, its answers folded and not carried out."""
        return await self.hooks.emit(event, data)

    async def answer(self, tool: str, tool_input: Data) -> HookResult:
        """What hooks answer before a tool call, folded and not carried out."""
        return await self.emit(PRE, tool_name=tool, tool_input=tool_input)

    async def pre(self, tool: str = "Write", /, **tool_input: Any) -> HookResult:
        """A tool call up to its decision."""
        return await self.run(PRE, tool_name=tool, tool_input=tool_input)

    async def call(self, tool: str, tool_input: Data, **more: Any) -> list[HookResult]:
        """What hooks say before and after a tool call; a stopped one has no after."""
        call = {"tool_name": tool, "tool_input": tool_input, **more}
        before = await self.emit(PRE, **call)
        if before.action in {"deny", "ask_user"}:
            return [before]
        result = {"success": True, "output": "done", "error": None}
        after = await self.emit(POST, **call, tool_result=result, success=True, duration_ms=1)
        return [before, after]

    # Modules

    async def mount(self, module: str, config: Data | None = None) -> Callable[[], Any] | None:
        """Mount a hook module as a session would; returns its clean-up."""
        name = f"hooks-{module.replace('_', '-')}"
        (entry,) = entry_points(group="amplifier.modules", name=name)
        cleanup: Callable[[], Any] | None = await entry.load()(self.coordinator, config)
        return cleanup

    @asynccontextmanager
    async def mounted(self, module: str, config: Data | None = None) -> AsyncIterator[Harness]:
        """A hook module, mounted and cleaned up as a session would."""
        cleanup = await self.mount(module, config)
        try:
            yield self
        finally:
            await finish(cleanup)

    # What came of it

    @property
    def texts(self) -> list[str]:
        """What stands in the conversation."""
        return [str(message["content"]) for message in self.context.messages]

    @property
    def shown(self) -> list[tuple[str, str, str]]:
        """What the person saw: message, level, source."""
        return list(self.screen.messages)

    def bodies(self, type: str) -> list[Data]:
        """The bodies of one type of record in the trail."""
        return [record["body"] for record in self.trail.of_type(type)]


async def finish(cleanup: Callable[[], Any] | None) -> None:
    """Run a clean-up, whichever kind it is."""
    outcome = cleanup() if cleanup is not None else None
    if inspect.isawaitable(outcome):
        await outcome
