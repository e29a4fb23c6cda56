"""The events of Claude Code that are about tools: what its hooks are told, and what we read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.claude.common import (
    INPUT_KEYS,
    TOOL_NAMES,
    drop_common,
)
from amplifier_hooks.coding_agents.dialects.dialect import TOOL, NativeEvent, Occasion
from amplifier_hooks.coding_agents.dialects.fields import get_number, get_text
from amplifier_hooks.external.incoming import Incoming

# Before a tool


def _build_permission(call: Call) -> dict[str, Any]:
    """A tool and its input, by their names of them."""
    names = INPUT_KEYS.get(call.tool, {})
    given = {names.get(key, key): value for key, value in call.input.items()}
    return {"tool_name": TOOL_NAMES.get(call.tool, call.tool), "tool_input": given}


def _build_tool(call: Call) -> dict[str, Any]:
    """The same, and the id of the call."""
    return {**_build_permission(call), "tool_use_id": call.tool_call_id}


def _read_tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool and its input."""
    return {"tool_name": payload["tool_name"], "tool_input": payload["tool_input"]}


# After a tool


def build_response(call: Call) -> dict[str, Any]:
    """A tool's result as an object: scripts look for `.success`, `.stdout` or `.filePath` in it."""
    response = call.response
    output = response.get("output")
    fields = dict(output) if isinstance(output, dict) else {"output": output}
    text = output if isinstance(output, str) else ""
    known = _build_known(call.tool, call.input, text)
    return {"success": bool(response.get("success", True)), **known, **fields}


def _build_known(tool: str, given: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The fields that the result of the same tool has there."""
    path = given.get("file_path")
    known: dict[str, Any] = {"filePath": path} if isinstance(path, str) else {}
    if tool == "Bash":
        flags = {"interrupted": False, "isImage": False, "noOutputExpected": False}
        return {"stdout": text, "stderr": "", **flags}
    if tool == "Read":
        lines = text.count("\n") + 1
        counts = {"numLines": lines, "startLine": 1, "totalLines": lines}
        return {**known, "type": "text", "file": {**known, "content": text, **counts}}
    changed: dict[str, Any] = {"structuredPatch": [], "originalFile": None, "userModified": False}
    if tool == "Write":
        return {**known, "type": "create", "content": given.get("content"), **changed}
    if tool == "Edit":
        strings = {"oldString": given.get("old_string"), "newString": given.get("new_string")}
        return {**known, **strings, **changed, "replaceAll": bool(given.get("replace_all"))}
    return known


def _build_tool_result(call: Call) -> dict[str, Any]:
    """The call and what came of it."""
    duration = call.data.get("duration_ms", 0)
    return {**_build_tool(call), "tool_response": build_response(call), "duration_ms": duration}


def _read_tool_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What the tool gave stays as it is, so that a part of it can be changed."""
    result = {"success": True, "output": payload["tool_response"], "error": None}
    duration = get_number(payload, "duration_ms")
    return {
        **_read_tool(payload),
        "tool_result": result,
        "success": True,
        "duration_ms": duration,
    }


def _build_tool_failure(call: Call) -> dict[str, Any]:
    """The call and why it failed."""
    failure = {"error": call.error, "is_interrupt": False}
    return {**_build_tool(call), **failure, "duration_ms": call.data.get("duration_ms", 0)}


def _read_tool_failure(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same as an error of ours."""
    kind = "Interrupted" if payload.get("is_interrupt") is True else "ToolError"
    error = {"type": kind, "message": get_text(payload, "error")}
    return {**_read_tool(payload), "error": error}


# Permissions


def _build_permission_denied(call: Call) -> dict[str, Any]:
    """The call that was not allowed, and why."""
    return {**_build_tool(call), "reason": str(call.data.get("how") or "denied")}


def _read_permission_denied(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same for whoever listens to guests."""
    return {**_read_tool(payload), "reason": get_text(payload, "reason")}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """What tools that we do not have do with a shell or a file, as calls of ours."""
    name, given = incoming.data["tool_name"], incoming.data["tool_input"]
    path, command = given.get("notebook_path"), given.get("command")
    if isinstance(path, str):
        text = get_text(given, "new_source")
        edit = {"file_path": path, "old_string": "", "new_string": text}
        return ({"tool_name": "Edit", "tool_input": edit},)
    if isinstance(command, str) and name != "Bash" and not name.startswith("mcp__"):
        return ({"tool_name": "Bash", "tool_input": {"command": command}},)
    return ()


_NOT_JUDGED = "amplifier: this was not judged, so it is not allowed"
_REFUSAL = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": _NOT_JUDGED},
        }
    }
)

TOOL_EVENTS: dict[str, NativeEvent] = {
    "PreToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "rewrite", "inject", "ask", "allow", "stop", "tell"}),
        gate=True,
    ),
    "PermissionRequest": NativeEvent(
        (Occasion(events.APPROVAL_REQUIRED),),
        _build_permission,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "allow", "rewrite", "stop"}),
        gate=True,
        refusal=_REFUSAL,  # exit code 2 is no opinion here
        becomes="guest:permission_request",
    ),
    "PermissionDenied": NativeEvent(
        (Occasion(events.APPROVAL_DENIED),),
        _build_permission_denied,
        TOOL,
        _read_permission_denied,
        becomes="guest:permission_denied",
    ),
    "PostToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_tool_result,
        TOOL,
        _read_tool_result,
        powers=frozenset({"replace", "inject", "stop", "tell"}),
    ),
    "PostToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
        _read_tool_failure,
        powers=frozenset({"inject", "tell"}),
    ),
    # Once more what PostToolUse has told already.
    "PostToolBatch": NativeEvent(
        (),
        lambda call: {},
        None,
        drop_common,
        powers=frozenset({"inject", "stop", "tell"}),
        noisy=True,
        since="2.1.118",
    ),
}
