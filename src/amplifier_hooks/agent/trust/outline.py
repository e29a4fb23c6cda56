"""What a plan holds in words that may be kept: no text of an option, so no secret either.

Texts of options are kept as digests, so that a later plan can be compared with it. What an outline
has beyond the modules and their settings is there to tell stricter from weaker: of a guard, each
part of its options by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from amplifier_core.mount_plan import EXAMPLES, LISTS, ModuleEntry, MountPlan, read_entry
from amplifier_hooks.agent.trust.meaning import GUARDS
from amplifier_hooks.machine.files import compute_digest
from amplifier_hooks.modules.observers import require_guard, require_guards

SECTIONS = ("approval", "audit", "sandbox")
FORM = 2
"""Outlines of the first form have no parts of options, and fewer settings of the session."""

SESSION_NUMBERS = (
    "injection_budget_per_turn",
    "injection_size_limit",
    "max_turns",
    "turn_timeout",
    "tool_result_limit",
)
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
        "timeout",
    }
)
_LEFT_OUT = frozenset({"write", "sign", "anchors", "token", "witness_token"})


def outline_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The modules of a plan and its settings; values that could hold a secret as digests."""
    parsed = require_guards(MountPlan.parse(plan))
    session = plan["session"]
    return {
        "form": FORM,
        "session": {
            **{key: _outline_entry(getattr(parsed.session, key)) for key in EXAMPLES},
            "limits": dict(session.get("limits") or {}),
            **{key: session[key] for key in SESSION_NUMBERS if key in session},
            **({"evaluate_only": True} if session.get("evaluate_only") else {}),
            **({"ungoverned": "deny"} if session.get("ungoverned") == "deny" else {}),
        },
        **{key: _outline_list(getattr(parsed, key)) for key in LISTS},
        "agents": {name: _outline_agent(one) for name, one in (plan.get("agents") or {}).items()},
        **{key: _outline_section(plan.get(key) or {}) for key in SECTIONS},
    }


def check_outline(outline: Any) -> None:
    """Refuse what `outline_plan` does not write, in this form or the first: TypeError."""
    _require(outline, dict)
    session = _require(outline.get("session"), dict)
    _require(session.get("limits", {}), dict)
    entries = [session.get(key) for key in EXAMPLES]
    for kind in LISTS:
        entries += _require(outline.get(kind), list)
    for agent in _require(outline.get("agents"), dict).values():
        entries += _require(_require(agent, dict).get("hooks"), list)
    for entry in entries:
        _require(_require(entry, dict).get("module"), str)
        _require(entry.get("config"), dict)
        _require(entry.get("options", {}), dict)
    for key in SECTIONS:
        _require(outline.get(key), dict)


def _require(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} was expected in an outline, got {value!r:.40}")
    return value


def _outline_agent(agent: Mapping[str, Any]) -> dict[str, Any]:
    hooks = [require_guard(read_entry("hooks", one)) for one in agent.get("hooks") or ()]
    rest = {key: value for key, value in agent.items() if key != "hooks"}
    return {"hooks": _outline_list(hooks), "rest": digest_value(rest)}


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
    if entry.source is None and entry.module in GUARDS:
        written["options"] = {key: _outline_option(key, one) for key, one in entry.config.items()}
    return {**written, "config": {key: digest_value(value) for key, value in entry.config.items()}}


def _outline_option(key: str, value: Any) -> Any:
    return outline_rules(value) if key == "rules" else outline_value(value)


def outline_rules(rules: Any) -> Any:
    """Rules, each under the name that people know it by."""
    if not isinstance(rules, list | tuple):
        return outline_value(rules)
    return [
        {**outline_value(one), "name": str(one["name"])}
        if isinstance(one, Mapping) and one.get("name")
        else outline_value(one)
        for one in rules
    ]


def outline_value(value: Any) -> Any:
    """A value whose texts are digests; its keys, numbers and switches stay as they are."""
    if isinstance(value, Mapping):
        return {str(key): outline_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [outline_value(one) for one in value]
    plain = value is None or isinstance(value, bool | int | float)
    return value if plain else digest_value(value)


def _outline_section(section: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        key: value if key in _PLAIN else digest_value(value)
        for key, value in section.items()
        if key not in _LEFT_OUT
    }
    if "sign" in section:
        found["sign"] = bool(section["sign"])
    if isinstance(section.get("sign"), str):
        found["key"] = digest_value(section["sign"])
    if "anchors" in section:
        found["anchors"] = [digest_value(one) for one in section["anchors"] or ()]
    return {**found, "write": list(section.get("write") or ())} if "write" in section else found


def digest_value(value: Any) -> str:
    """A short digest of any value of a plan."""
    return compute_digest(json.dumps(value, sort_keys=True, default=str).encode())[:16]
