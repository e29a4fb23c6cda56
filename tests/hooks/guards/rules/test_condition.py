"""The `when` of a rule: an expression in CEL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hooks.guards.rules.asking import DENY, answer


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ('tool_name == "Bash"', True),
        ('has(tool_input.command) && tool_input.command.contains("x")', True),
        ("tool_input.timeout > 100", True),
        ("size(tool_input.list) == 2 && tool_input.list[1] == 'b'", True),
        ('data.session_id == "test-session"', True),
        ('event == "tool:post"', False),
        ("tool_input.big > 1e20", True),
        ("tool_input.none == null", True),
    ],
)
async def test_a_condition_in_cel_decides(tmp_path: Path, when: str, applies: bool) -> None:
    """optional `when` in CEL."""
    tool_input = {
        "command": "x\udc80",
        "timeout": 200,
        "list": ("a", "b"),
        "none": None,
        "big": 10**30,
        "odd": object(),
    }
    result = await answer(tmp_path, [{"when": when, **DENY}], "Bash", tool_input)
    assert (result.action == "deny") == applies, result.reason
    assert "evaluated" not in (result.reason or "")
