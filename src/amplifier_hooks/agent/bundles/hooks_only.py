"""A bundle's plan for an agent that another program runs: its hooks, and nothing that acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.mount_plan import read_entry

_NEED_A_MODEL = frozenset({"hooks-session-naming"})
_JUDGE = "hooks-model-judge"
_SHOW_PROGRESS = frozenset({"hooks-progress-monitor"})


def keep_hooks_only(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The plan without what the other program has itself: model, tools, agents, sandbox.

    A model that answers questions is not the other program's, so its provider stays.
    """
    session = {**plan["session"], "orchestrator": "loop-basic", "context": "context-simple"}
    # The other program knows how many of its calls run at once: they may wait for one another.
    session["limits"] = {"tool_calls_at_once": None, **(session.get("limits") or {})}
    hooks = [_leave_showing(one) for one in plan["hooks"] if not _needs_model(one)]
    return {
        **plan,
        "session": session,
        "providers": plan["providers"] if _has_judge(plan) else [],
        "tools": [],
        "agents": {},
        "hooks": hooks,
        "sandbox": {"mode": "off"},
    }


def _has_judge(plan: Mapping[str, Any]) -> bool:
    return any(read_entry("hooks", one).module == _JUDGE for one in plan["hooks"])


def _needs_model(entry: Any) -> bool:
    return read_entry("hooks", entry).module in _NEED_A_MODEL


def _leave_showing(entry: Any) -> Any:
    """How far it is, the other program shows itself; lines of ours would stand between its own."""
    found = read_entry("hooks", entry)
    if found.module not in _SHOW_PROGRESS or not isinstance(entry, Mapping):
        return entry
    return {**entry, "config": {"show": False, **found.config}}
