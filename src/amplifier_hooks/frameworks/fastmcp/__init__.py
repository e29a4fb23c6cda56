"""Hooks in front of MCP servers that are written or proxied with FastMCP."""

from amplifier_hooks.coverage import FASTMCP, Coverage
from amplifier_hooks.frameworks.fastmcp.middleware import AmplifierMCP

__all__ = ["AmplifierMCP", "coverage"]


def coverage() -> Coverage:
    """What the adapter sees, and what it does not."""
    return FASTMCP
