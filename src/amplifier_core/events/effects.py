"""What a failure, a shadowed answer or a refusal means for an operation, in words."""

from __future__ import annotations

from typing import Any

from amplifier_core.events import canonical, is_notification, stops
from amplifier_core.models import HookResult

_SUBJECTS = {
    "session:start": "the session",
    "prompt:submit": "the prompt",
    "prompt:answer": "the answer",
    "provider:request": "the request",
    "provider:response": "the reply",
    "tool:pre": "the call",
    "tool:post": "the result",
    "context:pre_compact": "the compaction",
    "agent:spawn": "the sub-agent",
    "decision:tool_resolution": "the call",
    "decision:agent_resolution": "the sub-agent",
    "decision:context_resolution": "the compaction",
}


def describe_failure(event: str, cause: str, place: str, denies: bool) -> str:
    """`failed on tool:pre: KeyError: 'path' (guard.py:12); the call was not stopped`."""
    failed = f"failed on {event}: {cause}" + (f" ({place})" if place else "")
    effect = _describe_effect(event, denies)
    return f"{failed}; {effect}" if effect else failed


def _describe_effect(event: str, denied: bool) -> str:
    if is_notification(event):  # there is nothing to stop
        return ""
    return f"{_name_subject(event)} was {'denied' if denied else 'not stopped'}"


def describe_shadowed(event: str, result: HookResult) -> str:
    """`would have denied the call: it deletes files`; empty if it would have had no effect."""
    if result.action == "inject_context":
        items = [result.context_injection, *(one.content for one in result.context_injections)]
        text = "\n\n".join(dict.fromkeys(one for one in items if one))
        return f"would have told the agent: {text}" if text else ""
    if result.action == "deny" and event in stops:
        return f"would have made the agent go on: {result.reason or 'no reason given'}"
    if is_notification(event):
        return ""
    subject = _name_subject(event)
    if result.action == "deny":
        return f"would have denied {subject}: {result.reason or 'no reason given'}"
    if result.action == "ask_user":
        return f"would have asked about {subject}: {result.approval_prompt or result.reason or ''}"
    return f"would have changed {subject}"


def _name_subject(event: str) -> str:
    return _SUBJECTS.get(canonical(event), "the operation")


def explain_refusal(prompt: str, decision: Any) -> str:
    """Why an operation that needed a yes was not allowed, for the agent."""
    if decision.how == "timeout":
        return f"Timeout - denied by default: {prompt}"
    if decision.how in ("person", "cache"):
        said = f"The user said: {decision.comment}\n" if decision.comment else ""
        return f"{said}User denied: {prompt}"
    if decision.how == "rule":
        return f"Denied by {decision.by}: {decision.comment or prompt}"
    if decision.how == "nobody":
        return f"{decision.detail} to ask: {prompt}"
    return f"Not approved, {decision.detail}: {prompt}"
