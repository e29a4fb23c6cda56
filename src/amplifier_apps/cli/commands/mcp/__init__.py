"""amplifier mcp: the gateway, our own server, and the tools of servers that people have allowed."""

from __future__ import annotations

from importlib import import_module

import click

from amplifier_apps.cli.help_context import HelpContext, adopt

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


class _Group(click.Group):
    """Imports a command when it is wanted: the gateway starts with every session of a client."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"amplifier_apps.cli.commands.mcp.{cmd_name}")
        return adopt(getattr(module, cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Group, epilog=EPILOG)
def mcp() -> None:
    """Govern the tools of MCP servers, in any client, and be a server yourself."""
