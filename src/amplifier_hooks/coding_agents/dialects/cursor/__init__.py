"""Cursor: hooks.json, one list per event, open unless `failClosed`."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.coding_agents.dialects.cursor.answers import read_reply, write_reply
from amplifier_hooks.coding_agents.dialects.cursor.events import (
    INPUT_KEYS,
    OLDER_NAMES,
    SESSION_EVENTS,
    TOOL_EVENTS,
    TOOL_NAMES,
    find_parts,
)
from amplifier_hooks.coding_agents.dialects.dialect import Call, Dialect, Keys
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex

EVENTS = {**TOOL_EVENTS, **SESSION_EVENTS}


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {
        "conversation_id": call.session_id,
        "session_id": call.session_id,
        "generation_id": call.tool_call_id or call.session_id,
        "hook_event_name": call.native,
        "workspace_roots": [call.cwd],
        "cwd": call.cwd,
        "transcript_path": call.transcript or None,
    }


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {"CURSOR_PROJECT_DIR": call.cwd, "CLAUDE_PROJECT_DIR": call.cwd}


DIALECT = Dialect(
    name="cursor",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_regex,
    timeout=60.0,
    in_order=True,
    tool_names=TOOL_NAMES,
    input_keys=INPUT_KEYS,
    older_names=OLDER_NAMES,
    find_parts=find_parts,
    keys=Keys(session="conversation_id", agent="subagent_id"),
)
