"""The names of the tools that come along, and which of them a name misspells."""

from __future__ import annotations

from amplifier_core.utils.suggest import differs_by_one
from amplifier_foundation.policy.editing_tools import EDITING_TOOLS

TOOL_NAMES = EDITING_TOOLS | {"Bash", "Delegate", "Glob", "Grep", "Read", "Todo"}


def find_meant_tool(name: str) -> str | None:
    """The tool that a name nearly is; None for a tool of ours and for a name of its own."""
    if name in TOOL_NAMES:
        return None
    lowered = name.lower()
    return next((one for one in sorted(TOOL_NAMES) if differs_by_one(lowered, one.lower())), None)
