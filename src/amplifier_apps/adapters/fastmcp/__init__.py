"""Hooks in front of MCP servers that are written or proxied with FastMCP."""

from amplifier_apps.adapters.fastmcp.middleware import AmplifierMCP
from amplifier_apps.coverage.coverage import Coverage
from amplifier_apps.coverage.fastmcp import COVERAGE

__all__ = ["AmplifierMCP", "coverage"]


def coverage() -> Coverage:
    """What the adapter sees, and what it does not."""
    return COVERAGE
