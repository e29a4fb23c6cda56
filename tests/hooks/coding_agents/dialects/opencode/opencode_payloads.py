"""What our plugin makes of OpenCode's events, from what the real program told a plugin."""

from __future__ import annotations

import json
from typing import Any

from amplifier_hooks.coding_agents.dialects.opencode import DIALECT
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.external.incoming import Incoming
from tests.hooks.coding_agents.dialects.recordings import load_recording

SESSION = "ses_e1de0f546ffeNJA0Zc899n9PHz"


def build_payload(recording: str) -> dict[str, Any]:
    """The object that the plugin writes to the client."""
    told = load_recording("opencode", recording)
    native = get_native(recording)
    common = {"session_id": told["input"]["sessionID"], "cwd": "/project"}
    fields = _describe(native, told["input"], told.get("output", {}))
    return {**fields, **common, "hook_event_name": native}


def get_native(recording: str) -> str:
    """The event that a recording is of."""
    return next(name for name in DIALECT.events if f"{recording}.".startswith(f"{name}."))


def _describe(native: str, told: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    if native.startswith("tool.execute."):
        given = output["args"] if native.endswith("before") else told["args"]
        call = {"tool_name": told["tool"], "tool_input": given, "tool_use_id": told["callID"]}
        return call if native.endswith("before") else {**call, "tool_response": output["output"]}
    if native == "chat.message":
        return {"prompt": output["parts"][0]["text"], "agent": output["message"]["agent"]}
    return dict(told)


LEAST: dict[str, Any] = {
    "session_id": SESSION,
    "cwd": "/project",
    "tool_name": "bash",
    "tool_input": {"command": "make"},
    "tool_use_id": "call-1",
    "tool_response": "built",
    "prompt": "Build it",
    "command": "review",
    "arguments": "all of it",
    "error": "overloaded",
}
"""Enough for every event."""


def read_event(native: str, **changed: Any) -> Incoming:
    """An event with some fields changed."""
    return read_payload(DIALECT, native, json.dumps({**LEAST, **changed}))


def read_recording(recording: str) -> Incoming:
    """A recorded event as we read it."""
    return read_payload(DIALECT, get_native(recording), json.dumps(build_payload(recording)))
