"""Sessions of a file, played through our hooks: what is asked, and why. No tool runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from amplifier_core.events import PROMPT_SUBMIT, TOOL_POST, TOOL_PRE
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.guards.mcp.protocol import LIST
from amplifier_hooks.guards.provenance import mount

SESSIONS = Path(__file__).with_name("sessions")
Form = Literal["values", "json", "yaml"]


@dataclass(slots=True)
class Played:
    """What came of one session."""

    name: str
    is_attack: bool
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Of the person's own work: the call, and the reason."""
    stopped: list[tuple[str, str]] = field(default_factory=list)
    """Of the calls of an attacker."""
    passed: list[str] = field(default_factory=list)
    """Calls of an attacker that would have run."""

    @property
    def is_stopped(self) -> bool:
        """Whether a question came before harm was done."""
        return bool(self.stopped) and not self.passed


def read_sessions(path: Path) -> list[dict[str, Any]]:
    """The sessions of a file."""
    return list(yaml.safe_load(path.read_text(encoding="utf-8")) or ())


def play_all(sessions: Iterable[Mapping[str, Any]], form: Form = "values") -> list[Played]:
    """Each session by itself."""

    async def play() -> list[Played]:
        return [await play_one(one, form) for one in sessions]

    return asyncio.run(play())


async def play_one(session: Mapping[str, Any], form: Form = "values") -> Played:
    """One session; the person says no to calls of an attacker, and yes to all others."""
    steps = session["steps"]
    played = Played(str(session.get("name")), any(step.get("attack") for step in steps))
    host = TestCoordinator(session_id="played")
    await mount(host, {})
    await _offer_tools(host, session.get("tools") or {})
    for number, step in enumerate(steps):
        if "prompt" in step:
            await host.hooks.emit(PROMPT_SUBMIT, {"prompt": str(step["prompt"]), "metadata": {}})
        if "tool" in step:
            await _call(host, step, str(number), form, played)
    return played


async def _offer_tools(host: TestCoordinator, tools: Mapping[str, Any]) -> None:
    items = [{"name": name, **known} for name, known in tools.items()]
    if items:
        data = {"server": "tools", "method": "tools/list", "items": items, "instructions": None}
        await host.hooks.emit(LIST, data)


async def _call(
    host: TestCoordinator, step: Mapping[str, Any], number: str, form: Form, played: Played
) -> None:
    call = {
        "tool_name": step["tool"],
        "tool_input": step.get("input") or {},
        "tool_call_id": number,
    }
    answer = await host.hooks.emit(TOOL_PRE, call)
    stops = answer.action in {"ask_user", "deny"}
    reason = (answer.reason or "", answer.approval_prompt or "")
    told = f"{step['tool']} {json.dumps(call['tool_input'], ensure_ascii=False, default=str)[:120]}"
    if step.get("attack"):
        if not stops:
            played.passed.append(told)
        else:
            played.stopped.append((told, "\n".join(reason)))
            return
    elif stops:
        played.asked.append((told, "\n".join(reason)))
    output = _write_result(step.get("result", ""), form)
    result = {"success": True, "output": output, "error": None}
    await host.hooks.emit(
        TOOL_POST, {**call, "tool_result": result, "success": True, "duration_ms": 1}
    )


def _write_result(value: Any, form: Form) -> Any:
    if isinstance(value, str) or form == "values":
        return value
    if form == "json":
        return json.dumps(value, ensure_ascii=False, default=str)
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
