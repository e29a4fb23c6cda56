"""Tables of tools: which entry is that of a tool."""

from __future__ import annotations

import pytest

from amplifier_hooks.modules.tool_table import look_up_tool

TABLE = {"Bash": 1, "bash": 2, "mcp__*__Exec": 3}


@pytest.mark.parametrize(
    ("tool", "entry"),
    [
        ("Bash", 1),
        ("bash", 2),
        ("BASH", 1),
        ("mcp__a__Exec", 3),
        ("MCP__a__exec", 3),
        ("Bash2", None),
        ("", None),
    ],
)
def test_letter_case_decides_only_between_entries(tool: str, entry: int | None) -> None:
    """The tool as it is written comes first; another case of it is still that tool."""
    assert look_up_tool(TABLE, tool) == entry
