"""A run that a tool of another run started: its parent is asked before it, and told after it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events
from amplifier_core.events.payloads import Status
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run, inside


@dataclass(slots=True)
class Delegation:
    """A task that an agent gave to another one."""

    parent: Run
    agent: str
    task: str
    _started: float = field(default_factory=time.monotonic)

    def _describe(self) -> dict[str, Any]:
        return {
            "parent_session_id": self.parent.coordinator.session_id,
            "agent_name": self.agent,
            "task": self.task,
        }

    async def ask(self) -> str | None:
        """Let the hooks of the parent judge it; returns why the sub-agent must not start."""
        outcome = await self.parent.ask(
            events.AGENT_SPAWN, {**self._describe(), "config_override": {}}
        )
        if not outcome.allowed:
            return outcome.denial
        task = (outcome.data or {}).get("task", self.task)
        if not isinstance(task, str):
            return f"a hook left the sub-agent no task: {task!r}; it must be a text"
        self.task = task
        return None

    async def tell(self, text: str, status: Status) -> None:
        """Tell the hooks of the parent how it ended."""
        spent = int((time.monotonic() - self._started) * 1000)
        done = {"result": {"output": text}, "duration_ms": spent, "status": status}
        if not self.parent.has_ended:
            await self.parent.tell(events.AGENT_COMPLETE, {**self._describe(), **done})


def find_delegation(governor: Governor, agent: str, task: str) -> Delegation | None:
    """The task of a run that begins inside a tool call of another one."""
    parent = inside.get()
    if not isinstance(parent, Run) or parent.governor is not governor or parent.has_ended:
        return None
    return Delegation(parent, agent, task)
