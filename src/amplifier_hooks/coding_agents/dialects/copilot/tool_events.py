"""The events of Copilot CLI that are about tools: what its hooks are told, and what we read."""

from __future__ import annotations

from typing import Any

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.copilot.common import (
    REFUSAL,
    Payload,
    drop_common,
    read_error,
    write_output,
)
from amplifier_hooks.coding_agents.dialects.copilot.tools import TOOL_NAMES, build_input, read_call
from amplifier_hooks.coding_agents.dialects.dialect import TOOL, NativeEvent, Occasion
from amplifier_hooks.coding_agents.dialects.fields import get_text, require_object, require_text


def _build_tool(call: Call) -> dict[str, Any]:
    arguments = build_input(call.tool, call.input)
    return {"toolName": TOOL_NAMES.get(call.tool, call.tool), "toolArgs": arguments}


def _read_tool(payload: Payload) -> dict[str, Any]:
    return read_call(require_text(payload, "toolName"), payload["toolArgs"])


def _build_permission(call: Call) -> dict[str, Any]:
    told = _build_tool(call)
    return {
        "hookName": "permissionRequest",
        "toolName": told["toolName"],
        "toolInput": told["toolArgs"],
        "permissionSuggestions": [],
    }


def _read_permission(payload: Payload) -> dict[str, Any]:
    return read_call(require_text(payload, "toolName"), payload["toolInput"])


def _build_tool_result(call: Call) -> dict[str, Any]:
    text = write_output(call.response.get("output"))
    return {
        **_build_tool(call),
        "toolResult": {"resultType": "success", "textResultForLlm": text},
    }


def _read_tool_result(payload: Payload) -> dict[str, Any]:
    result = require_object(payload, "toolResult")
    kind, output = get_text(result, "resultType"), result.get("textResultForLlm")
    success = kind in ("", "success")
    error = None if success else {"type": kind, "message": str(output or "")}
    return {
        **_read_tool(payload),
        "tool_result": {"success": success, "output": output, "error": error},
        "success": success,
        "duration_ms": 0,
    }


def _build_tool_failure(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "error": call.error}


def _read_tool_failure(payload: Payload) -> dict[str, Any]:
    return {**_read_tool(payload), **read_error(payload)}


TOOL_EVENTS: dict[str, NativeEvent] = {
    "preToolUse": NativeEvent(
        (Occasion(events.TOOL_PRE),),
        _build_tool,
        TOOL,
        _read_tool,
        powers=frozenset({"deny", "rewrite", "inject", "ask", "allow"}),
        gate=True,
    ),
    "permissionRequest": NativeEvent(
        (Occasion(events.APPROVAL_REQUIRED),),
        _build_permission,
        TOOL,
        _read_permission,
        powers=frozenset({"deny", "allow"}),
        gate=True,
        becomes="guest:permission_request",
    ),
    "postToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),),
        _build_tool_result,
        TOOL,
        _read_tool_result,
        powers=frozenset({"deny", "replace", "inject"}),
        gate=True,
        refusal=REFUSAL,
    ),
    "postToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
        _read_tool_failure,
        powers=frozenset({"inject"}),
    ),
    # Only what a server is told beside the arguments can be changed here.
    "preMcpToolCall": NativeEvent((), lambda call: {}, None, drop_common, noisy=True),
}
