"""What a hook's failure means for what it was told of, in words."""

from __future__ import annotations

from amplifier_core.events import canonical, is_notification

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
    subject = _SUBJECTS.get(canonical(event), "the operation")
    return f"{subject} was {'denied' if denied else 'not stopped'}"
