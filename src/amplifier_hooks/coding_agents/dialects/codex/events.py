"""Every event of Codex CLI: Claude's fields, and the turn and the model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import claude
from amplifier_hooks.coding_agents.dialects.dialect import (
    Call,
    NativeEvent,
    Occasion,
    Power,
    get_number,
    get_text,
)

TOOL_NAMES = {"Delegate": "spawn_agent"}
INPUT_KEYS = {"Delegate": {"agent_name": "task_name", "task": "message"}}
_TOKENS = {
    "input_tokens": "input_tokens",
    "cached_input_tokens": "cache_read_tokens",
    "cache_write_input_tokens": "cache_write_tokens",
    "output_tokens": "output_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
    "total_tokens": "total_tokens",
}
"""Their names of what a request cost, to ours."""

Build = Callable[[Call], dict[str, Any]]
Read = Callable[[Mapping[str, Any]], dict[str, Any]]


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    turn = str(call.data.get("turn_id") or call.tool_call_id)
    model = str(call.data.get("model") or "")
    return {**claude.build_common(call), "turn_id": turn, "model": model}


# Tools


def _build_tool(call: Call) -> dict[str, Any]:
    return {**_build_permission(call), "tool_use_id": call.tool_call_id}


def _build_permission(call: Call) -> dict[str, Any]:
    names = INPUT_KEYS.get(call.tool, {})
    given = {names.get(key, key): value for key, value in call.input.items()}
    return {"tool_name": TOOL_NAMES.get(call.tool, call.tool), "tool_input": given}


def _build_tool_result(call: Call) -> dict[str, Any]:
    """A text, but the object of a tool of another program."""
    output = call.response.get("output")
    if not isinstance(output, str) and not call.tool.startswith("mcp__"):
        output = call.error if output is None else json.dumps(output, default=str)
    return {**_build_tool(call), "tool_response": output}


# Turns


def _build_stop(call: Call) -> dict[str, Any]:
    active = call.blocked_stops > 0
    return {"stop_hook_active": active, "last_assistant_message": call.last_message}


def _read_stop(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**claude.EVENTS["Stop"].read_fields(payload), "orchestrator": "codex"}


def _build_subagent_stop(call: Call) -> dict[str, Any]:
    agent = claude.EVENTS["SubagentStart"].build_fields(call)
    return {**_build_stop(call), **agent, "agent_transcript_path": ""}


def _build_trigger(call: Call) -> dict[str, Any]:
    return {"trigger": call.data.get("trigger")}


def _read_interrupt(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {"immediate": True}


# Requests to the model


def _read_request(payload: Mapping[str, Any]) -> dict[str, Any]:
    """That there is one; what it says is not told."""
    model = get_text(payload, "model") or None
    return {"provider": "", "model": model, "messages": [], "tools": [], "iteration": 0}


def _build_response(call: Call) -> dict[str, Any]:
    usage = call.data.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    tokens = {theirs: get_number(counted, ours) for theirs, ours in _TOKENS.items()}
    return {"status": "completed", "error": None, "token_usage": tokens}


def _read_response(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What it cost; what the model said is not told."""
    usage = payload.get("token_usage")
    counted = usage if isinstance(usage, Mapping) else {}
    return {
        "provider": "",
        "model": get_text(payload, "model") or None,
        "response": {"status": get_text(payload, "status"), "error": payload.get("error")},
        "usage": {ours: get_number(counted, theirs) for theirs, ours in _TOKENS.items()},
        "duration_ms": 0,
    }


def _take(native: str, *powers: Power, build: Build | None = None, **more: Any) -> NativeEvent:
    """An event of Claude's with the powers that it has here."""
    row = claude.EVENTS[native]
    return replace(row, build_fields=build or row.build_fields, powers=frozenset(powers), **more)


def _observe(event: str, build: Build, read: Read, *, noisy: bool = False) -> NativeEvent:
    """An event whose answers nobody reads."""
    return NativeEvent((Occasion(event),), build, read_fields=read, noisy=noisy)


EVENTS: dict[str, NativeEvent] = {
    "PreToolUse": _take("PreToolUse", "deny", "rewrite", "inject", "tell", build=_build_tool),
    "PermissionRequest": _take("PermissionRequest", "deny", "allow", build=_build_permission),
    # Also after a command that failed. Exit code 2 withholds the result, so it is a gate.
    "PostToolUse": _take(
        "PostToolUse",
        "deny",
        "replace",
        "inject",
        "tell",
        build=_build_tool_result,
        occasions=(Occasion(events.TOOL_POST), Occasion(events.TOOL_ERROR)),
        gate=True,
    ),
    "UserPromptSubmit": _take("UserPromptSubmit", "deny", "inject", "tell"),
    "SessionStart": _take("SessionStart", "inject", "stop", "tell"),
    "SessionEnd": _take("SessionEnd"),
    "SubagentStart": _take("SubagentStart", "inject"),
    "SubagentStop": _take("SubagentStop", "deny", "tell", build=_build_subagent_stop),
    "Stop": _take("Stop", "deny", "tell", build=_build_stop, read_fields=_read_stop),
    "Interrupt": _observe(events.CANCEL_REQUESTED, lambda call: {}, _read_interrupt),
    "PreCompact": _take("PreCompact", build=_build_trigger),
    "PostCompact": _take("PostCompact", build=_build_trigger),
    "PreModelRequest": _observe(
        events.PROVIDER_REQUEST, lambda call: {}, _read_request, noisy=True
    ),
    # The one place where an agent tells what it spends: worth a call for each request.
    "PostModelRequest": _observe(events.PROVIDER_RESPONSE, _build_response, _read_response),
}
