"""How a tool call ended."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.models import ToolResult
from amplifier_hooks.guards.policy.call_outcome import read_success


@pytest.mark.parametrize(
    ("data", "success"),
    [
        ({"success": True}, True),
        ({"success": False, "tool_result": {"success": True}}, False),
        ({"tool_result": {"success": True, "output": "done"}}, True),
        ({"tool_result": ToolResult(success=False)}, False),
        ({"result": {"success": True}}, True),
        ({"result": {"success": False}}, False),
        ({"result": "done"}, None),
        ({"tool_result": {}}, None),
        ({"tool_result": {"success": "yes"}}, None),
        ({}, None),
    ],
)
def test_success_is_read_where_a_loop_says_it(data: dict[str, Any], success: bool | None) -> None:
    """In the event, else in the result under either name; otherwise it is not known."""
    assert read_success(data) is success
