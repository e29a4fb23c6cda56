"""A refusal as Claude Code reads it from an HTTP hook, which has no exit code to say it with."""

from __future__ import annotations

import json
from typing import Any


def write_refusal(event: str, reason: str) -> bytes:
    """The body that blocks what the event announces."""
    return json.dumps(_build(event, reason), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _build(event: str, reason: str) -> dict[str, Any]:
    match event:
        case "PreToolUse":
            specific: dict[str, Any] = {
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        case "PermissionRequest":
            specific = {"decision": {"behavior": "deny", "message": reason}}
        case _:
            return {"decision": "block", "reason": reason}
    return {"hookSpecificOutput": {"hookEventName": event, **specific}}
