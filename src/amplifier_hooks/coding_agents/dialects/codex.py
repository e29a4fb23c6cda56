"""Codex CLI: Claude's shape with fewer answers; others are rejected, and the call goes ahead."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import claude
from amplifier_hooks.coding_agents.dialects.answer import judge_exit, parse_object, report_failure
from amplifier_hooks.coding_agents.dialects.dialect import (
    Call,
    Handler,
    NativeEvent,
    Occasion,
    Power,
    Reply,
    build_reply,
    get_number,
    get_text,
)
from amplifier_hooks.coding_agents.dialects.patches import find_parts
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict

# Its events: Claude's fields, and the turn and the model


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


def _adapt_event(
    native: str, *powers: Power, build: Build | None = None, **more: Any
) -> NativeEvent:
    """An event of Claude's with the powers that it has here."""
    row = claude.EVENTS[native]
    return replace(row, build_fields=build or row.build_fields, powers=frozenset(powers), **more)


def _observe(event: str, build: Build, read: Read, *, noisy: bool = False) -> NativeEvent:
    """An event whose answers nobody reads."""
    return NativeEvent((Occasion(event),), build, read_fields=read, noisy=noisy)


EVENTS: dict[str, NativeEvent] = {
    "PreToolUse": _adapt_event(
        "PreToolUse", "deny", "rewrite", "inject", "tell", build=_build_tool
    ),
    "PermissionRequest": _adapt_event(
        "PermissionRequest", "deny", "allow", build=_build_permission
    ),
    # Also after a command that failed. Exit code 2 withholds the result, so it is a gate.
    "PostToolUse": _adapt_event(
        "PostToolUse",
        "deny",
        "replace",
        "inject",
        "tell",
        build=_build_tool_result,
        occasions=(Occasion(events.TOOL_POST), Occasion(events.TOOL_ERROR)),
        gate=True,
    ),
    "UserPromptSubmit": _adapt_event("UserPromptSubmit", "deny", "inject", "tell"),
    "SessionStart": _adapt_event("SessionStart", "inject", "stop", "tell"),
    "SessionEnd": _adapt_event("SessionEnd"),
    "SubagentStart": _adapt_event("SubagentStart", "inject"),
    "SubagentStop": _adapt_event("SubagentStop", "deny", "tell", build=_build_subagent_stop),
    "Stop": _adapt_event("Stop", "deny", "tell", build=_build_stop, read_fields=_read_stop),
    "Interrupt": _observe(events.CANCEL_REQUESTED, lambda call: {}, _read_interrupt),
    "PreCompact": _adapt_event("PreCompact", build=_build_trigger),
    "PostCompact": _adapt_event("PostCompact", build=_build_trigger),
    "PreModelRequest": _observe(
        events.PROVIDER_REQUEST, lambda call: {}, _read_request, noisy=True
    ),
    # The one place where an agent tells what it spends: worth a call for each request.
    "PostModelRequest": _observe(events.PROVIDER_RESPONSE, _build_response, _read_response),
}


# Its answers: one key too many, or none of the reasons, voids all of it


_ALWAYS = frozenset({"continue", "stopReason", "suppressOutput", "systemMessage"})
_BLOCK = frozenset({"decision", "reason"})
_SPECIFIC = frozenset({"hookSpecificOutput"})
_TOP_KEYS: dict[str, frozenset[str]] = {
    "PreToolUse": _BLOCK | _SPECIFIC,
    "PermissionRequest": _SPECIFIC,
    "PostToolUse": _BLOCK | _SPECIFIC,
    "UserPromptSubmit": _BLOCK | _SPECIFIC,
    "SessionStart": _SPECIFIC,
    "SubagentStart": _SPECIFIC,
    "SubagentStop": _BLOCK,
    "Stop": _BLOCK,
}
_CONTEXT = frozenset({"hookEventName", "additionalContext"})
_DECISION = frozenset({"permissionDecision", "permissionDecisionReason", "updatedInput"})
_SPECIFIC_KEYS: dict[str, frozenset[str]] = {
    "PreToolUse": _CONTEXT | _DECISION,
    "PermissionRequest": frozenset({"hookEventName", "decision"}),
}
_PERMISSION_KEYS = frozenset({"behavior", "message"})

_UNTOLD_KEYS = frozenset({"description"})
"""Of the shell tool: read in a question, and nothing that a changed input can have."""


# Read


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """As Claude's, without `ask`, without a bare `allow`, without rewriting results."""
    why = _find_fault(call.native, reply)
    if why is not None:
        sentence = f"Hook {handler.label!r} {why}"
        return report_failure(sentence, fail_closed=handler.fail_closed)
    verdict = replace(_read_answer(handler, call, reply), output=UNCHANGED)
    if call.native == "PostToolUse" and verdict.decision == "deny":
        return replace(verdict, withhold=True)
    return verdict


def _read_answer(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """Its exit code if that says anything, else what it printed."""
    judged = judge_exit(handler, reply)
    return claude.read_reply(handler, call, reply) if judged is None else judged


def _find_fault(native: str, reply: Reply) -> str | None:
    """Why Codex takes this for no answer, if it does."""
    if reply.failure is not None:
        return None
    if reply.code == 2 and not reply.stderr.strip():
        return "exited with 2 and gave no reason, which Codex takes for a failure"
    printed = parse_object(reply.stdout) if reply.code == 0 else None
    found = None if printed is None else _find_rejected(native, _drop_nulls(printed))
    return None if found is None else f"answered with {found}, which Codex rejects"


def _drop_nulls(printed: Mapping[str, Any]) -> dict[str, Any]:
    """A known key without a value is as good as none."""
    known = _ALWAYS | _BLOCK | _SPECIFIC
    return {key: value for key, value in printed.items() if value is not None or key not in known}


def _find_rejected(native: str, printed: Mapping[str, Any]) -> str | None:
    """What in an answer Codex does not accept, and so ignores all of it."""
    if _has_half_a_character(printed):
        return "half a character"
    unknown = printed.keys() - _ALWAYS - _TOP_KEYS.get(native, frozenset())
    if unknown:
        return f"{min(unknown)!r}"
    found = _find_rejected_stop(printed) if native == "PreToolUse" else None
    found = found or _find_rejected_block(printed)
    return found or _find_rejected_specific(native, printed.get("hookSpecificOutput"))


def _has_half_a_character(printed: Mapping[str, Any]) -> bool:
    """Its parser takes no surrogate without the other half."""
    try:
        json.dumps(printed, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _find_rejected_stop(printed: Mapping[str, Any]) -> str | None:
    for key in ("stopReason", "suppressOutput"):
        if printed.get(key):
            return f"{key!r}"
    return "'continue: false'" if printed.get("continue") is False else None


def _find_rejected_block(printed: Mapping[str, Any]) -> str | None:
    decision = printed.get("decision")
    if decision not in (None, "block"):
        return f"'decision: {decision}'"
    if decision == "block" and not _has_text(printed.get("reason")):
        return "a block without a reason"
    return None


def _find_rejected_specific(native: str, specific: Any) -> str | None:
    if not isinstance(specific, dict):
        return None
    unknown = specific.keys() - _SPECIFIC_KEYS.get(native, _CONTEXT)
    if unknown:
        return f"{min(unknown)!r}"
    if "hookEventName" not in specific:
        return "no 'hookEventName'"
    if native == "PreToolUse":
        return _find_rejected_decision(specific)
    permission = specific.get("decision")
    if isinstance(permission, dict) and permission.keys() - _PERMISSION_KEYS:
        return f"{min(permission.keys() - _PERMISSION_KEYS)!r}"
    return None


def _find_rejected_decision(specific: Mapping[str, Any]) -> str | None:
    decision = specific.get("permissionDecision")
    if decision == "deny":
        said = _has_text(specific.get("permissionDecisionReason"))
        return None if said else "a deny without a reason"
    if decision == "allow":
        return None if "updatedInput" in specific else "a bare 'allow'"
    if decision is not None:
        return f"'permissionDecision: {decision}'"
    return "'updatedInput' without 'allow'" if "updatedInput" in specific else None


def _has_text(reason: Any) -> bool:
    return isinstance(reason, str) and bool(reason.strip())


# Written


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """Only the keys of that event."""
    if incoming.native == "PreToolUse" and verdict.tool_input is not None:
        verdict = _fit_input(incoming, verdict)
    if verdict.output is not UNCHANGED:
        verdict = _withhold(verdict)
    return build_reply(claude.build_answer(incoming, verdict))


def _fit_input(incoming: Incoming, verdict: Verdict) -> Verdict:
    """A changed input is taken with a permission only, and a shell's has one field."""
    changed = dict(verdict.tool_input or {})
    if incoming.payload.get("tool_name") in ("Bash", "apply_patch"):
        extra = changed.keys() - {"command"} - _UNTOLD_KEYS
        if extra or not _has_text(changed.get("command")):
            why = f"a hook changed this to {', '.join(sorted(changed))}; Codex takes a command only"
            return replace(verdict, decision="deny", reason=why, tool_input=None)
        changed = {"command": changed["command"]}
    return replace(verdict, decision="allow", reason=None, tool_input=changed)


def _withhold(verdict: Verdict) -> Verdict:
    """What is said instead of the result is the reason for which it is withheld."""
    if verdict.decision == "deny":
        return replace(verdict, output=UNCHANGED)
    output = verdict.output
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    reason = text if text.strip() else "(no output)"
    return replace(verdict, decision="deny", reason=reason, output=UNCHANGED)


DIALECT = replace(
    claude.DIALECT,
    name="codex",
    events=EVENTS,
    build_common=build_common,
    read_reply=read_reply,
    write_reply=write_reply,
    timeouts={"SessionEnd": 1.0, "Interrupt": 1.0},
    tool_names=TOOL_NAMES,
    older_names={},
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
    tried="0.169.0",
)
