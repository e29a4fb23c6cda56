"""The mount plan of a sub-agent, from its parent's plan and its own entry under `agents`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from amplifier_core.mounting.plan import ModuleEntry, read_entry


def child_plan(parent: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    """Its own hooks only: the parent's mediate it through the registry and must not run twice."""
    plan = {
        "session": _merge_session(parent.get("session") or {}, agent),
        "providers": agent.get("providers") or parent.get("providers") or [],
        "tools": _choose_tools(parent.get("tools") or [], agent.get("tools")),
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
    loop = read_entry("orchestrator", session["orchestrator"])
    return {**plan, "session": {**session, "orchestrator": _configure(loop, given | loop.config)}}


def allowed_tools(agent: Mapping[str, Any]) -> frozenset[str] | None:
    """The names of the tools that the agent may use; None means all that are mounted."""
    names = [one for one in agent.get("tools") or () if isinstance(one, str)]
    return frozenset(names) if names else None


def own_tool_modules(agent: Mapping[str, Any]) -> list[ModuleEntry]:
    """The modules that stand beside named tools in the agent's list."""
    listed = agent.get("tools") or ()
    return [read_entry("tools", one) for one in listed if not isinstance(one, str)]


def _choose_tools(parent: list[Any], listed: list[Any] | None) -> list[Any]:
    """Named tools come from the parent's modules; modules of its own stand beside them."""
    if listed is None:
        return parent
    own = [one for one in listed if not isinstance(one, str)]
    return [*parent, *own] if len(own) < len(listed) else own


def _merge_session(parent: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    """The parent's session settings under the agent's; its instructions replace the parent's."""
    own = dict(agent.get("session") or {})
    about = f"You are a sub-agent. What you are for: {agent.get('description')}"
    own["instructions"] = agent.get("instructions") or about
    if "orchestrator" in own or "orchestrator" not in parent:
        return {**parent, **own}
    loop = read_entry("orchestrator", parent["orchestrator"])
    # Options of the parent's loop that the agent's own settings must not lose against.
    replaced = {"system"}
    replaced |= {"max_turns"} if "max_turns" in own else set()
    replaced |= {"provider"} if agent.get("providers") else set()
    options = {key: value for key, value in loop.config.items() if key not in replaced}
    return {**parent, "orchestrator": _configure(loop, options), **own}


def _configure(entry: ModuleEntry, config: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry.to_dict(), "config": dict(config)}
