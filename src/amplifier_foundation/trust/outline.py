"""What a plan holds in words that may be kept: no option's value, so no secret either.

Options are kept as digests, so that a later plan can be compared with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_core.mount_plan import EXAMPLES, LISTS, ModuleEntry, MountPlan, read_entry
from amplifier_foundation.machine.snapshot import compute_digest
from amplifier_foundation.modules.observers import require_guard, require_guards

SECTIONS = ("approval", "audit", "sandbox")
_PLAIN = frozenset(
    {
        "mode",
        "enabled",
        "level",
        "on_failure",
        "network",
        "unix_sockets",
        "locked",
        "via",
        "persons",
        "requester_may_approve",
        "scope",
    }
)


def outline_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The modules of a plan and its settings; values that could hold a secret as digests."""
    parsed = require_guards(MountPlan.parse(plan))
    session = plan["session"]
    return {
        "session": {
            **{key: _outline_entry(getattr(parsed.session, key)) for key in EXAMPLES},
            "limits": dict(session.get("limits") or {}),
            **({"evaluate_only": True} if session.get("evaluate_only") else {}),
        },
        **{key: _outline_list(getattr(parsed, key)) for key in LISTS},
        "agents": {name: _outline_agent(one) for name, one in (plan.get("agents") or {}).items()},
        **{key: _outline_section(plan.get(key) or {}) for key in SECTIONS},
    }


def _outline_agent(agent: Mapping[str, Any]) -> dict[str, Any]:
    hooks = [require_guard(read_entry("hooks", one)) for one in agent.get("hooks") or ()]
    return {"hooks": _outline_list(hooks)}


def _outline_list(entries: Iterable[ModuleEntry]) -> list[dict[str, Any]]:
    return [_outline_entry(entry) for entry in entries]


def _outline_entry(entry: ModuleEntry) -> dict[str, Any]:
    written = entry.model_dump(
        include={"module", "source", "name", "instance_id", "priority", "required", "locked"},
        exclude_none=True,
    )
    # What outlines said before there were modes stays the same.
    if entry.mode != "enforce":
        written["mode"] = entry.mode
    return {**written, "config": {key: _digest(value) for key, value in entry.config.items()}}


def _outline_section(section: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        key: value if key in _PLAIN else _digest(value)
        for key, value in section.items()
        if key not in ("write", "sign", "token", "witness_token")
    }
    if "sign" in section:
        found["sign"] = bool(section["sign"])
    return {**found, "write": list(section.get("write") or ())} if "write" in section else found


def _digest(value: Any) -> str:
    return compute_digest(json.dumps(value, sort_keys=True, default=str).encode())[:16]
