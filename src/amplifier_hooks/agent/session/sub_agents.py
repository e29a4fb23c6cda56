"""The mount plan of a sub-agent, from its parent's plan and its own entry under `agents`."""

from __future__ import annotations

import asyncio
import copy
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from amplifier_core.dispatch import Answer
from amplifier_core.errors import SessionDenied, SessionError
from amplifier_core.events import (
    AGENT_COMPLETE,
    AGENT_SPAWN,
    DECISION_AGENT_RESOLUTION,
    SESSION_FORK,
)
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_core.payloads import (
    AgentCompleteData,
    AgentSpawnData,
    DecisionAgentResolutionData,
    EndReason,
    SessionForkData,
    Status,
)
from amplifier_core.session import AmplifierSession
from amplifier_core.utils import describe_error
from amplifier_hooks.modules.recommendations import choose_name


def build_child_plan(parent: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    """The parent's plan with the agent's own settings over it.

    Only the agent's own hooks are mounted: the parent's hooks mediate it through the registry, and
    must not run twice.
    """
    plan = {
        "session": _merge_session(parent.get("session") or {}, agent),
        "providers": agent.get("providers") or parent.get("providers") or [],
        "tools": _choose_tools(parent.get("tools") or [], agent.get("tools")),
        "hooks": agent.get("hooks") or [],
    }
    inherited = {key: parent.get(key) or {} for key in ("agents", "approval", "audit", "sandbox")}
    return copy.deepcopy({**plan, **inherited})


def apply_session_options(plan: dict[str, Any]) -> dict[str, Any]:
    """Pass `max_turns` and `instructions` of the session on to the loop, unless it has its own."""
    session = plan["session"]
    wanted = {"max_turns": session.get("max_turns"), "system": session.get("instructions")}
    given: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
    if not given:
        return plan
    loop = read_entry("orchestrator", session["orchestrator"])
    return {**plan, "session": {**session, "orchestrator": _configure(loop, given | loop.config)}}


def list_allowed_tools(agent: Mapping[str, Any]) -> frozenset[str] | None:
    """The names of the tools that the agent may use; None means all that are mounted."""
    names = [one for one in agent.get("tools") or () if isinstance(one, str)]
    return frozenset(names) if names else None


def list_own_tool_modules(agent: Mapping[str, Any]) -> list[ModuleEntry]:
    """The modules in the agent's list of tools, which may also name tools of the parent."""
    listed = agent.get("tools") or ()
    return [read_entry("tools", one) for one in listed if not isinstance(one, str)]


def _choose_tools(parent: list[Any], listed: list[Any] | None) -> list[Any]:
    """The parent's modules if the list names tools, and the modules that it brings itself."""
    if listed is None:
        return parent
    own = [one for one in listed if not isinstance(one, str)]
    return [*parent, *own] if len(own) < len(listed) else own


def _merge_session(parent: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    """The parent's session settings with the agent's over them; instructions are not inherited."""
    own = dict(agent.get("session") or {})
    about = f"You are a sub-agent. What you are for: {agent.get('description')}"
    own["instructions"] = agent.get("instructions") or about
    if "orchestrator" in own or "orchestrator" not in parent:
        return {**parent, **own}
    loop = read_entry("orchestrator", parent["orchestrator"])
    # The loop's options win over session settings, so those that the agent replaces must go.
    options = dict(loop.config)
    options.pop("system", None)
    if "max_turns" in own:
        options.pop("max_turns", None)
    if agent.get("providers"):
        options.pop("provider", None)
    return {**parent, "orchestrator": _configure(loop, options), **own}


def _configure(entry: ModuleEntry, config: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry.to_dict(), "config": dict(config)}


DEFAULT_DEPTH = 2
DEFAULT_COUNT = 8

OpenChild = Callable[
    [AmplifierSession, str, dict[str, Any], "Spawner"], Awaitable[AmplifierSession]
]


@dataclass
class Family:
    """What a session shares with all its descendants."""

    started: int = 0
    running: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who is to do what, as which session, once the hooks have had their say."""

    child_id: str
    agent_name: str
    task: str
    agent: Mapping[str, Any]
    answers: tuple[Answer, ...] = ()
    """What hooks said at the start; what they inject is for the sub-agent."""


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
        try:
            wanted = Assignment(str(uuid.uuid4()), agent_name, task, agent)
            assigned = await self._ask_hooks(parent, wanted)
        except BaseException:
            self._family.started -= 1
            raise
        return await self._run(parent, assigned, context)

    async def _ask_hooks(self, parent: AmplifierSession, wanted: Assignment) -> Assignment:
        """What the hooks leave of an assignment."""
        wanted = await self._resolve_agent(parent, wanted)
        spawn = AgentSpawnData(
            session_id=wanted.child_id,
            parent_session_id=parent.session_id,
            agent_name=wanted.agent_name,
            task=wanted.task,
            config_override=dict(wanted.agent),
        )
        outcome = await parent.coordinator.judge(AGENT_SPAWN, spawn)
        if not outcome.allowed:
            raise SessionDenied(outcome.denial)
        left = self._read_assignment(parent, wanted, {**spawn, **(outcome.data or {})})
        return replace(left, answers=outcome.answers)

    async def _resolve_agent(self, parent: AmplifierSession, wanted: Assignment) -> Assignment:
        agents = sorted(parent.coordinator.config.get("agents") or {})
        decision = DecisionAgentResolutionData(
            available_agents=agents,
            agent_name=wanted.agent_name,
            reason="the agent delegated a task",
        )
        outcome = await parent.coordinator.judge(DECISION_AGENT_RESOLUTION, decision)
        if not outcome.allowed:
            raise SessionDenied(outcome.denial)
        chosen = choose_name(outcome, "agent_name", "agent", wanted.agent_name, agents)
        if chosen == wanted.agent_name:
            return wanted
        return replace(wanted, agent_name=chosen, agent=self._find_agent(parent, chosen))

    def _read_assignment(
        self, parent: AmplifierSession, wanted: Assignment, left: Mapping[str, Any]
    ) -> Assignment:
        name = left["agent_name"]
        task = left["task"]
        agent = left["config_override"]
        if not isinstance(task, str) or not task.strip():
            raise SessionError(f"A hook left the sub-agent no task: {task!r}; it must be a text")
        if not isinstance(agent, Mapping):
            raise SessionError(f"A hook left config_override as {agent!r}; it must be a mapping")
        if name != wanted.agent_name and agent == wanted.agent:
            agent = self._find_agent(parent, name)  # another agent comes with its own settings
        return Assignment(wanted.child_id, str(name), task, agent)

    def _get_parent(self) -> AmplifierSession:
        if self._session is None:
            raise SessionError("The session has not started yet; it cannot start sub-agents")
        return self._session

    def _find_agent(self, parent: AmplifierSession, name: str) -> Mapping[str, Any]:
        agents = parent.coordinator.config.get("agents") or {}
        if name not in agents:
            raise SessionError(
                f"Unknown agent {name!r}; have {', '.join(sorted(agents)) or 'none'}"
            )
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
        self, parent: AmplifierSession, assigned: Assignment, context: str | None
    ) -> dict[str, Any]:
        started = time.monotonic()
        report = _make_report("", assigned, "interrupted")
        try:
            report = await self._converse(parent, assigned, context)
        except Exception as error:
            report = _make_report(describe_error(error), assigned, "error")
            raise
        finally:
            complete = AgentCompleteData(
                session_id=assigned.child_id,
                parent_session_id=parent.session_id,
                agent_name=assigned.agent_name,
                task=assigned.task,
                result=dict(report),
                duration_ms=int((time.monotonic() - started) * 1000),
                status=report["status"],
            )
            await asyncio.shield(parent.coordinator.notify(AGENT_COMPLETE, complete))
        return report

    async def _converse(
        self, parent: AmplifierSession, assigned: Assignment, context: str | None
    ) -> dict[str, Any]:
        plan = build_child_plan(parent.coordinator.config, assigned.agent)
        below = Spawner(self._open_child, self._family, self._depth + 1)
        child = await self._open_child(parent, assigned.child_id, plan, below)
        stop = _pass_on_cancellation(parent, child)
        self._family.running.add(child.session_id)
        reason: EndReason = "user_exit"
        try:
            await _restrict(child, assigned.agent, assigned.agent_name)
            fork = SessionForkData(child_id=child.session_id, agent_name=assigned.agent_name)
            await child.coordinator.notify(SESSION_FORK, fork)
            await child.coordinator.inject_answers(AGENT_SPAWN, list(assigned.answers))
            output = await child.execute(_write_prompt(assigned.task, context))
            status: Status = "success" if child.status == "idle" else "interrupted"
            reason = "user_exit" if child.status == "interrupted" else "complete"
            return _make_report(output, assigned, status)
        except Exception as error:
            reason = "timeout" if isinstance(error, TimeoutError) else "error"
            raise
        finally:
            stop()
            self._family.running.discard(child.session_id)
            _add_tokens(parent, child)
            await asyncio.shield(child.cleanup(reason))


def _make_report(output: str, assigned: Assignment, status: Status) -> dict[str, Any]:
    return {"output": output, "session_id": assigned.child_id, "status": status}


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
            f"Agent {name!r} wants the tools {', '.join(sorted(missing))}; "
            f"have {', '.join(sorted(tools)) or 'none'}"
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
