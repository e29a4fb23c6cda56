"""The sub-agents of a session: each has a session of ours, below the one that started it."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_core import events
from amplifier_core.events.payloads import EndReason
from amplifier_core.models.outcome import Outcome
from amplifier_core.operation import KERNEL
from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.half_calls import HalfCalls
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.external.verdicts import Verdict


class Helpers:
    """Finds the session of the sub-agent that does something."""

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._opening = asyncio.Lock()
        self._open: dict[str, HalfCalls] = {}
        self._refused: dict[str, str] = {}
        self._expected: dict[str, list[Outcome]] = {}

    async def find(self, incoming: Incoming, parent: HalfCalls) -> HalfCalls:
        """That of the sub-agent of an event; it is opened with the first one."""
        name = str(incoming.payload.get("agent_type") or "")
        async with self._opening:
            if incoming.agent_id not in self._open:
                run = await self._start_run(parent.run, name)
                self._open[incoming.agent_id] = HalfCalls(run, DIALECT.name)
        return self._open[incoming.agent_id]

    async def _start_run(self, parent: Run, name: str) -> Run:
        token = inside.set(parent)
        try:
            return await self._governor.open(CLAUDE_AGENT_SDK, name)
        finally:
            inside.reset(token)

    def find_refusal(self, agent_id: str) -> str | None:
        """Why a sub-agent that the program has started all the same must do nothing."""
        return self._refused.get(agent_id)

    async def ask(self, run: Run, given: dict[str, Any]) -> str | None:
        """Have the hooks judge the start of a sub-agent; returns why it must not, if so."""
        name = str(given.get("agent_name") or "")
        outcome = await self._judge(run, name, str(given.get("task") or ""))
        if not outcome.allowed:
            return outcome.denial
        self._expected.setdefault(name, []).append(outcome)
        return None

    async def _judge(self, run: Run, name: str, task: str) -> Outcome:
        asked: dict[str, Any] = {
            "parent_session_id": run.coordinator.session_id,
            "agent_name": name,
            "task": task,
            "config_override": {},
        }
        outcome = await run.ask(events.AGENT_SPAWN, asked)
        left = outcome.data or {}
        if outcome.allowed and any(left.get(key, asked[key]) != asked[key] for key in asked):
            why = CLAUDE_AGENT_SDK.explain(events.AGENT_SPAWN, "modify")
            why = f"a hook changed the start of a sub-agent, which cannot be done: {why}"
            return await run.home.run(run.coordinator.deny(events.AGENT_SPAWN, KERNEL, why))
        return outcome

    async def start(self, incoming: Incoming, parent: HalfCalls, calls: HalfCalls) -> Verdict:
        """A sub-agent begins: what hooks said at its start is meant for it."""
        name = str(incoming.data["agent_name"])
        waiting = self._expected.get(name)
        outcome = waiting.pop(0) if waiting else await self._judge(parent.run, name, "")
        if not outcome.allowed:
            self._refused[incoming.agent_id] = outcome.denial
            return Verdict(context=(outcome.denial,))
        work = calls.coordinator.inject_answers(events.AGENT_SPAWN, list(outcome.answers))
        await calls.run.home.run(work)
        return Verdict()

    async def stop(self, incoming: Incoming, parent: HalfCalls) -> Verdict:
        """A sub-agent is done; it may be woken up once more, which opens another session."""
        done = self._open.pop(incoming.agent_id, None)
        if done is not None:
            await done.run.end()
        await parent.run.tell(events.AGENT_COMPLETE, incoming.data)
        return Verdict()

    def list_runs(self) -> list[Run]:
        """Those of sub-agents that are at work."""
        return [one.run for one in self._open.values()]

    async def end(self, reason: EndReason) -> None:
        """Nothing of them goes on."""
        for agent_id in list(self._open):
            await self._open.pop(agent_id).run.end(reason)
