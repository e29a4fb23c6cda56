"""OpenCode: no shell hooks, but a plugin of ours that tells of its events in this form.

It starts the client with one object on stdin: `session_id`, `cwd`, `hook_event_name`, and what the
event is about (`tool_name`, `tool_input`, `tool_use_id`, `tool_response`, `prompt`, ...). It obeys
the object that comes back, `{}` or nothing for "go ahead", and lets nothing through at a gate when
none comes back.
"""

from __future__ import annotations

from typing import Any

from amplifier_hooks.coding_agents.dialects.dialect import Call, Dialect
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.coding_agents.dialects.opencode.answers import read_reply, write_reply
from amplifier_hooks.coding_agents.dialects.opencode.events import (
    EVENTS,
    INPUT_KEYS,
    TOOL_NAMES,
    find_parts,
)


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    return {"session_id": call.session_id, "cwd": call.cwd, "hook_event_name": call.native}


def build_environment(call: Call) -> dict[str, str]:
    """Nothing: a plugin is no program of its own."""
    return {}


DIALECT = Dialect(
    name="opencode",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    write_reply=write_reply,
    matches=matches_regex,
    timeout=600.0,
    tool_names=TOOL_NAMES,
    input_keys=INPUT_KEYS,
    find_parts=find_parts,
    tried="1.18.34",
)
