"""What every event of Claude Code has, and its names of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_hooks.coding_agents.dialects.call import Call

TOOL_NAMES = {"Todo": "TodoWrite", "Delegate": "Agent"}
OLDER_NAMES = {"Task": "Delegate"}
INPUT_KEYS = {"Delegate": {"agent_name": "subagent_type", "task": "prompt"}}

_COMMON = frozenset(
    {
        "agent_id",
        "agent_type",
        "cwd",
        "effort",
        "hook_event_name",
        "permission_mode",
        "prompt_id",
        "session_id",
        "transcript_path",
    }
)


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    common: dict[str, Any] = {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "permission_mode": "default",
    }
    if call.agent_id is not None:
        common["agent_id"] = call.agent_id
    return common


def drop_common(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event that are its own."""
    return {key: value for key, value in payload.items() if key not in _COMMON}


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "CLAUDE_PROJECT_DIR": call.cwd,
        "CLAUDE_CODE_SESSION_ID": call.session_id,
        "CLAUDECODE": "1",
    }
