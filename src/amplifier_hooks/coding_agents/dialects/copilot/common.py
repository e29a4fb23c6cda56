"""What every event of Copilot CLI has, in camelCase, and how single fields are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.fields import get_text

Payload = Mapping[str, Any]

REFUSAL = '{"decision": "block", "reason": "amplifier: this was not judged, so it is not allowed"}'
"""What blocks where exit code 2 does not."""

_COMMON = frozenset(
    {"sessionId", "timestamp", "cwd", "transcriptPath", "hookName", "hook_event_name"}
)


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "sessionId": call.session_id,
        "timestamp": _to_milliseconds(call.data.get("timestamp")),
        "cwd": call.cwd,
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "COPILOT_CLI": "1",
        "COPILOT_PROJECT_DIR": call.cwd,
        "CLAUDE_PROJECT_DIR": call.cwd,
    }


def _to_milliseconds(stamp: Any) -> int:
    try:
        return round(datetime.fromisoformat(str(stamp)).timestamp() * 1000)
    except ValueError:
        return 0


def drop_common(payload: Payload) -> dict[str, Any]:
    """The fields of an event that are its own."""
    return {key: value for key, value in payload.items() if key not in _COMMON}


def write_output(output: Any) -> str:
    """A result as the model reads it."""
    if isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False, default=str)


def read_error(payload: Payload) -> dict[str, Any]:
    """What went wrong, told as a text or as an object."""
    error = payload.get("error")
    told = error if isinstance(error, Mapping) else {"message": error}
    return {
        "error": {"type": get_text(told, "name") or "Error", "message": get_text(told, "message")}
    }
