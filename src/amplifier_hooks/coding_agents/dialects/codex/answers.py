"""What hooks of Codex CLI answer. One key too many, or none of the reasons, voids all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_hooks.coding_agents.dialects import claude
from amplifier_hooks.coding_agents.dialects.answer import judge_exit, parse_object, report_failure
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply, build_reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict

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
