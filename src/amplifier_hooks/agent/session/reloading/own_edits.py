"""Whether all edits of a session's files were made by the person who works on them.

An edit counts as the person's if no tool, and no process that a tool started, was alive when it
was made. Where processes may outlive their call, none counts any more after the first call that
may have started one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import ORCHESTRATOR_COMPLETE, TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import CONTINUE, HookResult
from amplifier_hooks.agent.session.reloading.watched_files import Stamp

_LAST = 1_000_000  # behind the hooks that may still refuse the call
_OURS = "amplifier_hooks.agent.tools."
_STARTS_PROGRAMS = frozenset({"Bash"})


class OwnEdits:
    """Compares the files before and after the times in which tools run."""

    def __init__(self, coordinator: SessionCoordinator, stamp: Callable[[], Stamp]) -> None:
        self._coordinator = coordinator
        self._stamp = stamp
        self._running: set[tuple[str, str]] = set()
        self._before: Stamp = ()
        self._by_a_tool = False
        self._for_good = False

    def watch(self) -> None:
        """Be told of every tool call, until the session ends."""
        for event, handler in (
            (TOOL_PRE, self._before_tool),
            (TOOL_POST, self._after_tool),
            (TOOL_ERROR, self._after_tool),
            (ORCHESTRATOR_COMPLETE, self._after_turn),
        ):
            remove = self._coordinator.hooks.register(event, handler, priority=_LAST, name="reload")
            self._coordinator.register_cleanup(remove)

    @property
    def are_all(self) -> bool:
        """Whether nothing but the person can have made the changes so far."""
        return not (self._by_a_tool or self._for_good or self._running)

    def forget(self) -> None:
        """The changes so far are in use; those from now on count."""
        self._by_a_tool = False

    async def settle(self) -> None:
        """No tool runs any more, even if some never told: refused or cancelled ones do not."""
        if self._running:
            await self._compare()
            self._running.clear()

    async def _before_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        if not self._running:
            self._before = await asyncio.to_thread(self._stamp)
        self._running.add(_identify(data))
        if not self._ends_with_its_call(str(data.get("tool_name"))):
            self._for_good = True
        return CONTINUE

    async def _after_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        await self._compare()
        self._running.discard(_identify(data))
        return CONTINUE

    async def _after_turn(self, event: str, data: dict[str, Any]) -> HookResult:
        if data.get("session_id") == self._coordinator.session_id:
            await self.settle()
        return CONTINUE

    async def _compare(self) -> None:
        if await asyncio.to_thread(self._stamp) != self._before:
            self._by_a_tool = True

    def _ends_with_its_call(self, name: str) -> bool:
        """Whether nothing of a tool is left when its call is over."""
        tool = (self._coordinator.get("tools") or {}).get(name)
        if name not in _STARTS_PROGRAMS and type(tool).__module__.startswith(_OURS):
            return True
        wall = self._coordinator.get_capability("session.wall")
        return wall is not None and bool(wall.ends_processes_of(name))


def _identify(data: dict[str, Any]) -> tuple[str, str]:
    return str(data.get("session_id")), str(data.get("tool_call_id"))
