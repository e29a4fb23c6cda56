"""Cursor's events of tools: what they tell, written by us and read by us, side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.answer import parse_object
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.cursor.tools import (
    TOOL_NAMES,
    read_server_tool,
    read_tool,
)
from amplifier_hooks.coding_agents.dialects.dialect import TOOL, NativeEvent, Occasion, Power
from amplifier_hooks.coding_agents.dialects.fields import get_number, get_text, require_text
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS

_SHELL = frozenset({"Bash"})
_MCP = frozenset({"mcp__*"})
_READ = frozenset({"Read"})
_DENIAL: frozenset[Power] = frozenset({"deny", "allow"})
"""It takes "ask" everywhere, but before most tools it does not ask then."""


# Any tool


def _build_tool(call: Call) -> dict[str, Any]:
    return {
        "tool_name": TOOL_NAMES.get(call.tool, call.tool),
        "tool_input": call.input,
        "tool_use_id": call.tool_call_id,
    }


def _build_tool_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "tool_output": _get_output(call), "duration": _get_duration(call)}


def _read_tool_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**read_tool(payload), **_read_result(payload, "tool_output")}


def _build_tool_failure(call: Call) -> dict[str, Any]:
    return {
        **_build_tool(call),
        "error_message": call.error,
        "failure_type": "error",
        "duration": _get_duration(call),
    }


def _read_tool_failure(payload: Mapping[str, Any]) -> dict[str, Any]:
    kind = get_text(payload, "failure_type") or "error"
    error = {"type": kind, "message": get_text(payload, "error_message")}
    return {**read_tool(payload), "error": error}


# The shell


def _build_command(call: Call) -> dict[str, Any]:
    return {"command": call.input.get("command", ""), "sandbox": False}


def _read_command(payload: Mapping[str, Any]) -> dict[str, Any]:
    return _make_call("Bash", {"command": require_text(payload, "command")})


def _build_command_result(call: Call) -> dict[str, Any]:
    return {**_build_command(call), "output": _get_output(call), "duration": _get_duration(call)}


def _read_command_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**_read_command(payload), **_read_result(payload, "output")}


# Tools of MCP servers


def _build_server_result(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "result_json": _get_output(call), "duration": _get_duration(call)}


def _read_server_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**read_server_tool(payload), **_read_result(payload, "result_json")}


# Files


def _build_reading(call: Call) -> dict[str, Any]:
    return {"file_path": call.input.get("file_path", ""), "content": "", "attachments": []}


def _read_reading(payload: Mapping[str, Any]) -> dict[str, Any]:
    return _make_call("Read", {"file_path": require_text(payload, "file_path")})


def _build_edit(call: Call) -> dict[str, Any]:
    return {"file_path": call.input.get("file_path", ""), "edits": _list_edits(call.input)}


def _list_edits(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    if isinstance(given.get("edits"), list):
        return list(given["edits"])
    new = given.get("new_string", given.get("content", ""))
    return [{"old_string": given.get("old_string", ""), "new_string": new}]


def _read_edit(payload: Mapping[str, Any]) -> dict[str, Any]:
    """One edit is an Edit, and several are a MultiEdit."""
    path, edits = require_text(payload, "file_path"), payload.get("edits")
    if not isinstance(edits, list):
        raise TypeError(f"'edits' must be a list, got {type(edits).__name__}")
    single = len(edits) == 1 and isinstance(edits[0], Mapping)
    given = {**edits[0], "file_path": path} if single else {"file_path": path, "edits": edits}
    return {**_make_call("Edit" if single else "MultiEdit", given), **_hold_result("", 0)}


# Parts


def _get_output(call: Call) -> str:
    """Cursor hands results over as texts."""
    output = call.response.get("output")
    return output if isinstance(output, str) else json.dumps(output, default=str)


def _get_duration(call: Call) -> Any:
    return call.data.get("duration_ms", 0)


def _make_call(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    """Under our names, and without an id: these events have none."""
    return {"tool_name": tool, "tool_input": given, "tool_call_id": ""}


def _read_result(payload: Mapping[str, Any], key: str) -> dict[str, Any]:
    """JSON in a text becomes an object again, so that its parts can be changed."""
    told = payload.get(key)
    output = parse_object(told) if isinstance(told, str) else None
    return _hold_result(told if output is None else output, get_number(payload, "duration"))


def _hold_result(output: Any, duration: int) -> dict[str, Any]:
    result = {"success": True, "output": output, "error": None}
    return {"tool_result": result, "success": True, "duration_ms": duration}


# What is noisy here tells of a call that preToolUse and postToolUse tell of, too, or happens while
# the person types.
TOOL_EVENTS: dict[str, NativeEvent] = {
    "preToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        read_tool,
        powers=frozenset({"deny", "allow", "rewrite"}),
        gate=True,
    ),
    "postToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_tool_result,
        TOOL,
        _read_tool_result,
        powers=frozenset({"replace", "inject"}),
    ),
    "postToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
        _read_tool_failure,
    ),
    "beforeShellExecution": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_SHELL),),
        _build_command,
        "command",
        _read_command,
        powers=_DENIAL,
        gate=True,
        noisy=True,
    ),
    "afterShellExecution": NativeEvent(
        (Occasion(events.TOOL_POST, tools=_SHELL),),
        _build_command_result,
        "command",
        _read_command_result,
        noisy=True,
    ),
    "beforeMCPExecution": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_MCP),),
        _build_tool,
        TOOL,
        read_server_tool,
        powers=_DENIAL,
        gate=True,
        noisy=True,
    ),
    "afterMCPExecution": NativeEvent(
        (Occasion(events.TOOL_POST, tools=_MCP),),
        _build_server_result,
        TOOL,
        _read_server_result,
        noisy=True,
    ),
    "beforeReadFile": NativeEvent(
        (Occasion(events.TOOL_PRE, tools=_READ),),
        _build_reading,
        TOOL,
        _read_reading,
        powers=_DENIAL,
        gate=True,
        noisy=True,
    ),
    "afterFileEdit": NativeEvent(
        (Occasion(events.TOOL_POST, tools=EDITING_TOOLS, success=True),),
        _build_edit,
        TOOL,
        _read_edit,
        noisy=True,
    ),
    # The inline completion is no agent: what it reads goes to a model all the same.
    "beforeTabFileRead": NativeEvent(
        (),
        _build_reading,
        None,
        _read_reading,
        powers=_DENIAL,
        gate=True,
        noisy=True,
        becomes=events.TOOL_PRE,
    ),
    "afterTabFileEdit": NativeEvent(
        (), _build_edit, None, _read_edit, noisy=True, becomes=events.TOOL_POST
    ),
}
