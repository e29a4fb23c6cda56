"""What a verdict means at an event of ours: at most a modify, an injection and a question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_core import events
from amplifier_core.models import HookResult
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict

_REFUSES = frozenset(
    {
        events.TOOL_PRE,
        events.PROMPT_SUBMIT,
        events.PROVIDER_REQUEST,
        events.PROVIDER_RESPONSE,
        events.CONTEXT_PRE_COMPACT,
    }
)
_TELLS_AGENT = frozenset(
    {events.TOOL_POST, events.TOOL_ERROR, events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE}
)
_TELLS_USER = frozenset({events.SESSION_START, events.AGENT_SPAWN})
_STOPPABLE = _REFUSES | {events.SESSION_START}
_SHOWN_INPUT = 2000


def build_answers(event: str, data: Mapping[str, Any], verdict: Verdict) -> list[HookResult]:
    """The answers to give, one per action, so that none hides another."""
    refusal = _find_refusal(event, verdict)
    if refusal is not None:
        return [HookResult(action="deny", reason=refusal, **_tell_user("", verdict))]
    found = (_modify(event, data, verdict), _inject(event, verdict), _ask(event, data, verdict))
    answers = [fields for fields in found if fields is not None]
    told = _tell_user(event, verdict)
    if not answers and not told:
        return []
    first, *rest = answers or [{}]
    return [HookResult(**first, **told), *(HookResult(**fields) for fields in rest)]


def _find_refusal(event: str, verdict: Verdict) -> str | None:
    """Why the operation is refused, if it is and can be at this event."""
    if verdict.stop is not None and event in _STOPPABLE:
        return verdict.stop
    if verdict.decision == "deny" and _can_refuse(event, verdict):
        return verdict.reason or "Blocked by a hook."
    return None


def _can_refuse(event: str, verdict: Verdict) -> bool:
    return event in _REFUSES or (event == events.TOOL_POST and verdict.withhold)


def _modify(event: str, data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any] | None:
    changed: dict[str, Any] = {}
    if event == events.TOOL_PRE and verdict.tool_input is not None:
        changed["tool_input"] = verdict.tool_input
    if event == events.TOOL_POST and verdict.output is not UNCHANGED:
        result = data.get("tool_result")
        known = dict(result) if isinstance(result, Mapping) else {"success": True, "error": None}
        changed["tool_result"] = {**known, "output": verdict.output}
    if event == events.PROVIDER_REQUEST and verdict.messages is not None:
        changed["messages"] = verdict.messages
    return {"action": "modify", "data": {**data, **changed}} if changed else None


def _inject(event: str, verdict: Verdict) -> dict[str, Any] | None:
    texts = list(verdict.context)
    if verdict.decision == "deny" and event in _TELLS_AGENT and verdict.reason:
        texts.append(verdict.reason)
    if not texts:
        return None
    return {"action": "inject_context", "context_injection": "\n\n".join(texts)}


def _ask(event: str, data: Mapping[str, Any], verdict: Verdict) -> dict[str, Any] | None:
    if verdict.decision not in ("ask", "defer") or event not in _REFUSES:
        return None
    return {
        "action": "ask_user",
        "approval_prompt": _word_question(data, verdict),
        "reason": verdict.reason,
    }


def _word_question(data: Mapping[str, Any], verdict: Verdict) -> str:
    """The reason, and the input that would run: that is what a person decides about."""
    tool = data.get("tool_name")
    lines = [verdict.reason or "A shell hook wants a person to decide."]
    if tool:
        given = data.get("tool_input") if verdict.tool_input is None else verdict.tool_input
        shown = json.dumps(given, ensure_ascii=False, default=str)
        lines.append(f"{tool}: {shown[:_SHOWN_INPUT]}")
    return "\n".join(lines)


def _tell_user(event: str, verdict: Verdict) -> dict[str, Any]:
    """What the person is told, whatever was decided."""
    told = [*verdict.notes, *verdict.warnings]
    if verdict.decision == "deny" and event in _TELLS_USER and verdict.reason:
        told.append(verdict.reason)
    if verdict.stop is not None:
        told.append(verdict.stop)
    fields: dict[str, Any] = {"suppress_output": True} if verdict.quiet else {}
    if told:
        fields["user_message"] = "\n".join(told)
        fields["user_message_level"] = "warning" if verdict.warnings else "info"
    return fields
