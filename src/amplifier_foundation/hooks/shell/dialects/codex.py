"""Codex CLI: Claude's shape with fewer answers; others are rejected, and the call goes ahead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amplifier_foundation.hooks.shell.dialects import claude
from amplifier_foundation.hooks.shell.dialects.dialect import read_json
from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.verdict import UNCHANGED, Verdict, failed

_SHORT = frozenset({"SessionEnd", "Interrupt"})
_UNMATCHED = frozenset({"UserPromptSubmit", "Stop"})
_KNOWN = (
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
)


def payload(call: Call) -> dict[str, Any]:
    """Claude's fields, and the turn and the model."""
    turn = str(call.data.get("turn_id") or call.data.get("tool_call_id") or "")
    return {**claude.payload(call), "turn_id": turn, "model": str(call.data.get("model") or "")}


def default_timeout(native: str) -> float:
    """Seconds."""
    return 1.0 if native in _SHORT else 600.0


def answer(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """As Claude's, without `ask`, without a bare `allow`, without rewriting results."""
    printed = read_json(reply.stdout) if reply.code == 0 and reply.failure is None else None
    if call.native == "PreToolUse" and printed is not None:
        wrong = _rejected(printed)
        if wrong is not None:
            sentence = f"Hook {handler.label!r} answered with {wrong}, which Codex rejects"
            return failed(sentence, fail_closed=handler.fail_closed)
    verdict = replace(claude.answer(handler, call, reply), output=UNCHANGED)
    if call.native == "PostToolUse" and verdict.decision == "deny":
        return replace(verdict, withhold=True)
    if call.native == "PermissionRequest":
        return replace(verdict, tool_input=None)
    return verdict


def _rejected(printed: dict[str, Any]) -> str | None:
    for key in ("stopReason", "suppressOutput"):
        if key in printed:
            return f"{key!r}"
    if printed.get("continue") is False:
        return "'continue: false'"
    if printed.get("decision") == "approve":
        return "'decision: approve'"
    return _rejected_specific(printed.get("hookSpecificOutput"))


def _rejected_specific(specific: Any) -> str | None:
    if not isinstance(specific, dict):
        return None
    decision = specific.get("permissionDecision")
    if decision == "deny":
        return None if specific.get("permissionDecisionReason") else "a deny without a reason"
    if decision == "allow":
        return None if "updatedInput" in specific else "a bare 'allow'"
    if decision is not None:
        return f"'permissionDecision: {decision}'"
    return "'updatedInput' without 'allow'" if "updatedInput" in specific else None


def matched(call: Call) -> tuple[str, ...]:
    """Claude's values; prompts and stops have no matcher."""
    return () if call.native in _UNMATCHED else claude.matched(call)


DIALECT = replace(
    claude.DIALECT,
    name="codex",
    events={name: claude.EVENTS[name] for name in _KNOWN},
    payload=payload,
    answer=answer,
    matched=matched,
    timeout=default_timeout,
)
