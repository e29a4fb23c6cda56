"""Sub-agents: child sessions that the parent's hooks mediate, limited in depth and number."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.errors import SessionDenied, SessionError
from amplifier_core.events import (
    AGENT_COMPLETE,
    AGENT_SPAWN,
    DECISION_AGENT_RESOLUTION,
    SESSION_FORK,
)
from amplifier_core.events.payloads import (
    AgentCompleteData,
    AgentSpawnData,
    DecisionAgentResolutionData,
    SessionForkData,
    Status,
)
from amplifier_core.session import AmplifierSession
from amplifier_core.utils import describe_error
from amplifier_foundation.session.child_plan import (
    build_child_plan,
    list_allowed_tools,
    list_own_tool_modules,
)

DEFAULT_DEPTH = 2
DEFAULT_COUNT = 8

OpenChild = Callable[[AmplifierSession, dict[str, Any], "Spawner"], Awaitable[AmplifierSession]]


@dataclass
class Family:
    """What a session shares with all its descendants."""

    started: int = 0
    running: set[str] = field(default_factory=set)


class Spawner:
    """Starts the sub-agents of one session; offered as the capability `session.spawn`."""

    def __init__(self, open_child: OpenChild, family: Family | None = None, depth: int = 0) -> None:
        self._open_child = open_child
        self._family = family or Family()
        self._depth = depth
        self._session: AmplifierSession | None = None

    def attach(self, session: AmplifierSession) -> None:
        """Offer to start sub-agents of this session."""
        self._session = session
        session.coordinator.register_capability("session.spawn", self.spawn)

    async def spawn(self, agent_name: str, task: str, context: str | None = None) -> dict[str, Any]:
        """Give a task to a sub-agent; the result has `output`, `session_id` and `status`."""
        parent = self._get_parent()
        agent = self._find_agent(parent, agent_name)
        self._check_limits(parent)
        # Counted before the first await: calls in parallel must not pass the limit together.
        self._family.started += 1
        chosen = DecisionAgentResolutionData(
            agent_name=agent_name, reason="the agent delegated a task"
        )
        await parent.coordinator.notify(DECISION_AGENT_RESOLUTION, chosen)
        spawn = AgentSpawnData(
            parent_session_id=parent.session_id,
            agent_name=agent_name,
            task=task,
            config_override=dict(agent),
        )
        allowed = await parent.coordinator.judge(AGENT_SPAWN, spawn)
        if not allowed.allowed:
            self._family.started -= 1
            raise SessionDenied(allowed.denial)
        task = str((allowed.data or {}).get("task", task))
        return await self._run(parent, agent_name, agent, task, context)

    def _get_parent(self) -> AmplifierSession:
        if self._session is None:
            raise SessionError("The session has not started yet; it cannot start sub-agents")
        return self._session

    def _find_agent(self, parent: AmplifierSession, name: str) -> Mapping[str, Any]:
        agents = parent.coordinator.config.get("agents") or {}
        if name not in agents:
            raise SessionError(f"Unknown agent {name!r}; have {sorted(agents)}")
        found: Mapping[str, Any] = agents[name]
        return found

    def _check_limits(self, parent: AmplifierSession) -> None:
        session = parent.coordinator.config.get("session") or {}
        limits = session.get("limits") or {}
        depth = limits.get("agent_depth", DEFAULT_DEPTH)
        count = limits.get("agent_count", DEFAULT_COUNT)
        if self._depth >= depth:
            raise SessionError(f"Sub-agents may be {depth} deep (session.limits.agent_depth)")
        if self._family.started >= count:
            raise SessionError(
                f"{count} sub-agents were started already (session.limits.agent_count)"
            )

    async def _run(
        self,
        parent: AmplifierSession,
        name: str,
        agent: Mapping[str, Any],
        task: str,
        context: str | None,
    ) -> dict[str, Any]:
        started = time.monotonic()
        report = _make_report("", "", "interrupted")
        try:
            report = await self._converse(parent, name, agent, _write_prompt(task, context))
        except Exception as error:
            report = _make_report(describe_error(error), "", "error")
            raise
        finally:
            complete = AgentCompleteData(
                parent_session_id=parent.session_id,
                agent_name=name,
                task=task,
                result=dict(report),
                duration_ms=int((time.monotonic() - started) * 1000),
                status=report["status"],
            )
            await asyncio.shield(parent.coordinator.notify(AGENT_COMPLETE, complete))
        return report

    async def _converse(
        self, parent: AmplifierSession, name: str, agent: Mapping[str, Any], prompt: str
    ) -> dict[str, Any]:
        plan = build_child_plan(parent.coordinator.config, agent)
        below = Spawner(self._open_child, self._family, self._depth + 1)
        child = await self._open_child(parent, plan, below)
        stop = _pass_on_cancellation(parent, child)
        self._family.running.add(child.session_id)
        reason: Literal["complete", "user_exit"] = "user_exit"
        try:
            await _restrict(child, agent, name)
            fork = SessionForkData(child_id=child.session_id, agent_name=name)
            await child.coordinator.notify(SESSION_FORK, fork)
            output = await child.execute(prompt)
            reason = "complete"
            status: Status = "success" if child.status == "idle" else "interrupted"
            return _make_report(output, child.session_id, status)
        finally:
            stop()
            self._family.running.discard(child.session_id)
            _add_tokens(parent, child)
            await asyncio.shield(child.cleanup(reason))


def _make_report(output: str, session_id: str, status: Status) -> dict[str, Any]:
    return {"output": output, "session_id": session_id, "status": status}


def _write_prompt(task: str, context: str | None) -> str:
    return task if not context else f"{task}\n\nWhat you need to know:\n{context}"


async def _restrict(child: AmplifierSession, agent: Mapping[str, Any], name: str) -> None:
    """Unmount the tools that the agent's list does not name."""
    allowed = list_allowed_tools(agent)
    if allowed is None:
        return
    tools: Mapping[str, Any] = child.coordinator.get("tools")
    missing = allowed - set(tools)
    if missing:
        raise SessionError(
            f"Agent {name!r} wants the tools {sorted(missing)}; have {sorted(tools)}"
        )
    own = list_own_tool_modules(agent)
    brought = {
        tool
        for one in child.mounting.mounted
        if one.kind == "tools" and one.entry in own
        for tool in one.objects.get("tools", {})
    }
    for tool in set(tools) - allowed - brought:
        await child.coordinator.unmount("tools", tool)


def _pass_on_cancellation(parent: AmplifierSession, child: AmplifierSession) -> Callable[[], None]:
    above = parent.coordinator.cancellation

    async def pass_on() -> None:
        await child.coordinator.request_cancel(immediate=above.is_immediate)

    return above.on_cancel(pass_on)


def _add_tokens(parent: AmplifierSession, child: AmplifierSession) -> None:
    """Count what a sub-agent spent as spent by its parent."""
    parent.stats["total_tokens"] += child.stats["total_tokens"]
