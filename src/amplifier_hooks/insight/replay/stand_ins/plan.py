"""Today's plan for a replay: its hooks, and stand-ins for everything that acts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_core.mount_plan import read_entry
from amplifier_hooks.insight.replay.recording import Recording
from amplifier_hooks.trails import RecordedEvent, RecordedHook
from amplifier_hooks.trails.acting import ACTING

PREFIX = "replay-"
MODEL, TOOLS = f"{PREFIX}model", f"{PREFIX}tools"
BEFORE, AFTER = f"{PREFIX}hooks-before", f"{PREFIX}hooks-after"
INSTEAD = f"{PREFIX}instead-of-"

_ELSEWHERE = ("via", "server", "token", "store", "persons", "requester_may_approve", "scope")
"""Options that have people asked elsewhere; a replay asks nobody."""


def build_plan(plan: Mapping[str, Any], scratch: Path) -> dict[str, Any]:
    """The plan with its hooks as they are, except those that act on the machine."""
    approval = {key: one for key, one in plan["approval"].items() if key not in _ELSEWHERE}
    if approval.get("mode") != "deny":
        approval["mode"] = "ask"
    hooks = [_replace_acting(one, scratch) for one in plan["hooks"]]
    return {
        **plan,
        "session": _free_loop(plan["session"]),
        "providers": [{"module": MODEL}],
        "tools": [{"module": TOOLS}],
        "hooks": [_stand_in(BEFORE), *hooks, _stand_in(AFTER)],
        "approval": approval,
        "audit": {**plan["audit"], "enabled": False},
        "sandbox": {"mode": "off"},
    }


def list_acting(plan: Mapping[str, Any]) -> dict[str, str]:
    """The modules of a plan that do not run in a replay, each with the reason."""
    entries = [
        *plan["hooks"],
        *(hook for one in plan["agents"].values() for hook in one.get("hooks", ())),
    ]
    named = [read_entry("hooks", one) for one in entries]
    return {one.module: ACTING[one.module] for one in named if _acts(one)}


def _acts(entry: Any) -> bool:
    return entry.source is None and entry.module in ACTING


def _stand_in(module: str) -> dict[str, Any]:
    return {"module": module, "required": False}


def _replace_acting(written: Any, scratch: Path) -> Any:
    entry = read_entry("hooks", written)
    if _acts(entry):
        return _stand_in(f"{INSTEAD}{entry.module}")
    if entry.module == "hooks-cost-control" and entry.source is None:
        config = {**entry.config, "file": str(scratch / "cost.json")}
        return {**entry.to_dict(), "config": config}
    return written


def _free_loop(session: Mapping[str, Any]) -> dict[str, Any]:
    """The loop takes the model that is there."""
    loop = read_entry("orchestrator", session["orchestrator"])
    options = {
        key: one for key, one in loop.config.items() if key not in ("provider", "default_provider")
    }
    return {**session, "orchestrator": {**loop.to_dict(), "config": options}}


def list_replaced(plan: Mapping[str, Any]) -> dict[str, str]:
    """What is loaded in the place of the modules that agents bring; hooks see them as they are."""
    replaced: dict[str, str] = {}
    for agent in plan["agents"].values():
        for kind, instead in (("providers", MODEL), ("tools", TOOLS)):
            listed = [one for one in agent.get(kind) or () if kind == "providers" or _is_entry(one)]
            replaced |= {read_entry(kind, one).module: instead for one in listed}
        for one in agent.get("hooks") or ():
            if _acts(entry := read_entry("hooks", one)):
                replaced[entry.module] = f"{INSTEAD}{entry.module}"
    return replaced


def _is_entry(tool: Any) -> bool:
    return not isinstance(tool, str)


def choose_hooks(recording: Recording, module: str) -> list[RecordedHook]:
    """The recorded hooks that a stand-in of the plan answers for; those that only listened not."""
    spoke = _list_speaking(recording)
    hooks = [one for one in recording.hooks if one.name in spoke]
    if module.startswith(INSTEAD):
        acting = module.removeprefix(INSTEAD)
        return [one for one in hooks if acting in (one.module, one.name)]
    first = min((one.id for one in recording.hooks if one.kind == "hooks"), default=0)
    own = [one for one in hooks if one.kind != "hooks" and one.name not in ACTING]
    return [one for one in own if (one.id < first) == (module == BEFORE)]


def _list_speaking(recording: Recording) -> set[str]:
    return {
        answer.hook
        for items in recording.sessions.values()
        for event in items
        if isinstance(event, RecordedEvent)
        for answer in event.answers
        if answer.action != "continue" or answer.error is not None
    }
