"""The start of a sub-agent, asked of the agent whose tool starts it."""

from __future__ import annotations

import time

from amplifier_core import events
from amplifier_core.events.payloads import (
    AgentCompleteData,
    AgentSpawnData,
    EndReason,
    Status,
)
from amplifier_core.models.outcome import Outcome
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.external.verdicts import TextVerdict

UNNAMED = "agent"


class Spawning:
    """One sub-agent, as hooks of its parent see it; without a parent, nobody is asked."""

    def __init__(self, governor: Governor, agent: str) -> None:
        self._parent = find_parent(governor)
        self._agent = agent or UNNAMED
        self._task = ""
        self._started = time.monotonic()

    async def ask(self, task: str) -> TextVerdict:
        """Whether it may start, and with which task."""
        if self._parent is None:
            return TextVerdict(True, task)
        outcome = await self._parent.ask(events.AGENT_SPAWN, dict(self._describe(task)))
        return self._judge(task, outcome)

    def ask_sync(self, task: str) -> TextVerdict:
        """The same for a thread."""
        if self._parent is None:
            return TextVerdict(True, task)
        asking = self._parent.ask(events.AGENT_SPAWN, dict(self._describe(task)))
        return self._judge(task, self._parent.home.run_sync(asking))

    async def complete(self, reason: EndReason, response: str) -> None:
        """Tell hooks of the parent that it is done."""
        if self._parent is not None:
            done = self._describe_end(reason, response)
            await self._parent.tell(events.AGENT_COMPLETE, dict(done))

    def complete_sync(self, reason: EndReason, response: str) -> None:
        """The same for a thread."""
        if self._parent is not None:
            done = self._describe_end(reason, response)
            self._parent.tell_sync(events.AGENT_COMPLETE, dict(done))

    @property
    def _parent_id(self) -> str:
        return str(self._parent.coordinator.session_id) if self._parent is not None else ""

    def _describe(self, task: str) -> AgentSpawnData:
        return AgentSpawnData(
            parent_session_id=self._parent_id,
            agent_name=self._agent,
            task=task,
            config_override={},
        )

    def _judge(self, task: str, outcome: Outcome) -> TextVerdict:
        if not outcome.allowed:
            return TextVerdict(False, outcome.denial)
        wanted = (outcome.data or {}).get("task", task)
        if not isinstance(wanted, str):
            kind = type(wanted).__name__
            return TextVerdict(False, f"A hook left no task for {self._agent}: {kind}")
        self._task = wanted
        return TextVerdict(True, wanted, wanted != task)

    def _describe_end(self, reason: EndReason, response: str) -> AgentCompleteData:
        return AgentCompleteData(
            parent_session_id=self._parent_id,
            agent_name=self._agent,
            task=self._task,
            result={"response": response},
            duration_ms=int((time.monotonic() - self._started) * 1000),
            status=_read_status(reason),
        )


def find_parent(governor: Governor) -> Run | None:
    """The run whose tool is being called, if it is one of this governor."""
    run = inside.get()
    if isinstance(run, Run) and run.governor is governor and not run.has_ended:
        return run
    return None


def _read_status(reason: EndReason) -> Status:
    if reason == "complete":
        return "success"
    return "interrupted" if reason == "user_exit" else "error"
