"""The names of the tools that come along, and which of them a name misspells."""

from __future__ import annotations

from amplifier_core.utils.text import differs_by_one
from amplifier_hooks.guards.policy.tool_calls import TOOLS


def find_meant_tool(name: str) -> str | None:
    """The tool that a name nearly is; None for a tool of ours and for a name of its own."""
    if name in TOOLS:
        return None
    lowered = name.lower()
    return next((one for one in sorted(TOOLS) if differs_by_one(lowered, one.lower())), None)
