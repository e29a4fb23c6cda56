"""What hooks are told of a tool call that is over."""

from __future__ import annotations

from typing import Any, get_type_hints

from amplifier_core.events import payloads
from amplifier_core.events.tool_data import describe_failure, describe_result
from amplifier_core.models import ToolResult

CALL: dict[str, Any] = {"tool_name": "Read", "tool_input": {"p": 1}, "tool_call_id": "c1"}


def test_a_result_is_told_with_its_call() -> None:
    """tool:post has the input, the result and the time that it took."""
    told = describe_result(CALL, ToolResult(output="text"), 7)
    assert told == {
        **CALL,
        "tool_result": {"success": True, "output": "text", "error": None},
        "success": True,
        "duration_ms": 7,
    }
    assert told.keys() <= get_type_hints(payloads.ToolPostData).keys()


def test_a_failure_is_told_with_its_call() -> None:
    """tool:error has the kind and the sentence; a call without an id has an empty one."""
    call = {"tool_name": "Read", "tool_input": {}}
    told = describe_failure(call, "OSError", "gone")
    error = {"type": "OSError", "message": "gone"}
    assert told == {**call, "tool_call_id": "", "error": error}
