"""Codex CLI: Claude's shape with fewer answers; others are rejected, and the call goes ahead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amplifier_foundation.dialects import claude
from amplifier_foundation.dialects.answer import parse_object
from amplifier_foundation.dialects.call import Call
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.dialects.reply import Reply
from amplifier_foundation.dialects.verdict import UNCHANGED, Verdict, report_failure

EVENTS = {
    name: claude.EVENTS[name]
    for name in (
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
}


def build_common(call: Call) -> dict[str, Any]:
    """Claude's fields, and the turn and the model."""
    turn = str(call.data.get("turn_id") or call.tool_call_id)
    model = str(call.data.get("model") or "")
    return {**claude.build_common(call), "turn_id": turn, "model": model}


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """As Claude's, without `ask`, without a bare `allow`, without rewriting results."""
    rejected = _find_rejected(reply) if call.native == "PreToolUse" else None
    if rejected is not None:
        sentence = f"Hook {handler.label!r} answered with {rejected}, which Codex rejects"
        return report_failure(sentence, fail_closed=handler.fail_closed)
    verdict = replace(claude.read_reply(handler, call, reply), output=UNCHANGED)
    if call.native == "PostToolUse" and verdict.decision == "deny":
        return replace(verdict, withhold=True)
    if call.native == "PermissionRequest":
        return replace(verdict, tool_input=None)
    return verdict


def _find_rejected(reply: Reply) -> str | None:
    """What in an answer Codex does not accept before a tool, and so ignores all of it."""
    answered = reply.code == 0 and reply.failure is None
    printed = parse_object(reply.stdout) if answered else None
    if printed is None:
        return None
    for key in ("stopReason", "suppressOutput"):
        if key in printed:
            return f"{key!r}"
    if printed.get("continue") is False:
        return "'continue: false'"
    if printed.get("decision") == "approve":
        return "'decision: approve'"
    return _find_rejected_decision(printed.get("hookSpecificOutput"))


def _find_rejected_decision(specific: Any) -> str | None:
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


DIALECT = replace(
    claude.DIALECT,
    name="codex",
    events=EVENTS,
    build_common=build_common,
    read_reply=read_reply,
    timeouts={"SessionEnd": 1.0},
)
