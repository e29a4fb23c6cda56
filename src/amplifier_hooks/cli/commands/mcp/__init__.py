"""amplifier mcp: the gateway, our own server, and the tools of servers that people have allowed."""

from __future__ import annotations

import click

from amplifier_hooks.cli.lazy_group import LazyGroup

COMMANDS = {
    "gateway": "Stand between an MCP client and a server, with your hooks.",
    "server": "Let agents ask what they may do, what waits and what happened.",
    "tools": "List, allow and forget what servers said of their tools.",
}

EPILOG = """\b
Examples:
  amplifier mcp gateway -- npx -y files-server .
  amplifier mcp gateway --http https://example.com/mcp
  amplifier mcp server
  amplifier mcp tools
"""


class _Commands(LazyGroup):
    """The gateway starts with every session of a client, and needs none of the others."""

    summaries = COMMANDS
    package = __name__


@click.group(cls=_Commands, epilog=EPILOG)
def mcp() -> None:
    """Govern the tools of MCP servers, in any client, and be a server yourself."""
