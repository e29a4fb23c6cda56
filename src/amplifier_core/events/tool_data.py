"""What hooks are told of a tool call that is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.events.payloads import ToolErrorData, ToolPostData


def describe_result(call: Mapping[str, Any], result: Any, spent: int) -> ToolPostData:
    """The call, what its tool returned, and the milliseconds that it took."""
    success = result.success
    return {
        "tool_name": call["tool_name"],
        "tool_input": call["tool_input"],
        "tool_call_id": call.get("tool_call_id", ""),
        "tool_result": {"success": success, "output": result.output, "error": result.error},
        "success": success,
        "duration_ms": spent,
    }


def describe_failure(call: Mapping[str, Any], kind: str, why: str) -> ToolErrorData:
    """The call, and why it did not run to its end."""
    return {
        "tool_name": call["tool_name"],
        "tool_input": call["tool_input"],
        "tool_call_id": call.get("tool_call_id", ""),
        "error": {"type": kind, "message": why},
    }
