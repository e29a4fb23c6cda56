"""The mount plan of a sub-agent, from its parent's plan and its own entry under `agents`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def child_plan(parent: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    """Its own hooks only: the parent's mediate it through the registry and must not run twice."""
    plan = {
        "session": _session(parent.get("session") or {}, agent),
        "providers": agent.get("providers") or parent.get("providers") or [],
        "tools": _tool_modules(parent.get("tools") or [], agent.get("tools")),
        "hooks": agent.get("hooks") or [],
        "agents": parent.get("agents") or {},
        "approval": parent.get("approval") or {},
        "audit": parent.get("audit") or {},
    }
    return copy.deepcopy(plan)


def with_session_options(plan: dict[str, Any]) -> dict[str, Any]:
    """`session.max_turns` and `session.instructions` as options of the loop, unless it has them."""
    session = plan["session"]
    wanted = {"max_turns": session.get("max_turns"), "system": session.get("instructions")}
    given: dict[str, Any] = {key: value for key, value in wanted.items() if value is not None}
    if not given:
        return plan
    loop = session["orchestrator"]
    entry: dict[str, Any] = {"module": loop} if isinstance(loop, str) else dict(loop)
    entry["config"] = {**given, **(entry.get("config") or {})}
    return {**plan, "session": {**session, "orchestrator": entry}}


def allowed_tools(agent: Mapping[str, Any]) -> frozenset[str] | None:
    """The names of the tools that the agent may use; None means all that are mounted."""
    listed = agent.get("tools")
    names = [one for one in listed or () if isinstance(one, str)]
    return frozenset(names) if names else None


def _tool_modules(parent: list[Any], listed: list[Any] | None) -> list[Any]:
    """Named tools come from the parent's modules; modules of its own stand beside them."""
    if listed is None:
        return parent
    own = [one for one in listed if not isinstance(one, str)]
    return [*parent, *own] if len(own) < len(listed) else own


def _session(parent: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    """The parent's session settings under the agent's; its instructions replace the parent's."""
    own = dict(agent.get("session") or {})
    about = f"You are a sub-agent. What you are for: {agent.get('description')}"
    own["instructions"] = agent.get("instructions") or about
    merged = {**parent, **own}
    loop = merged.get("orchestrator")
    if "orchestrator" not in (agent.get("session") or {}) and isinstance(loop, Mapping):
        replaced = {"system"}
        replaced |= {"max_turns"} if "max_turns" in own else set()
        replaced |= {"provider"} if agent.get("providers") else set()
        options = {k: v for k, v in (loop.get("config") or {}).items() if k not in replaced}
        merged["orchestrator"] = {**loop, "config": options}
    return merged
