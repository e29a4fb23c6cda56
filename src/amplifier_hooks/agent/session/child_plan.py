"""The mount plan of a sub-agent, from its parent's plan and its own entry under `agents`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from amplifier_core.mount_plan import ModuleEntry, read_entry


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
