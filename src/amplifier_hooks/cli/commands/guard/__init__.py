"""amplifier guard: put the hooks of a bundle in front of the coding agents that people use."""

from __future__ import annotations

from pathlib import Path

import click

from amplifier_hooks.cli.commands.guard.agents import make_agent_command
from amplifier_hooks.cli.commands.guard.check import check
from amplifier_hooks.cli.commands.guard.mcp import mcp
from amplifier_hooks.cli.options import AS_JSON
from amplifier_hooks.coding_agents.known import TITLES

EPILOG = """\b
Examples:
  amplifier guard                     how the agents on this machine are guarded
  amplifier guard claude              put a guard in front of Claude Code
  amplifier guard codex --user        in every folder, not only in this project
  amplifier guard gemini --status
  amplifier guard copilot --remove
  amplifier guard check claude        fire events through it, and see that it works
  amplifier guard mcp                 put the gateway before the MCP servers of every client
"""


@click.group(epilog=EPILOG, invoke_without_command=True)
@AS_JSON
@click.pass_context
def guard(ctx: click.Context, as_json: bool) -> int:
    """Guard Claude Code, Codex, Gemini CLI and others with your hooks.

    Every event of the agent is then judged by the hooks of the bundle, and nothing that could not
    be judged is allowed. Without an agent: how those on this machine are guarded, with exit code 0
    only if all of them are.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from amplifier_hooks.cli.commands.guard.status import show_all

    return show_all(Path.cwd(), as_json=as_json)


for _name, _title in TITLES.items():
    guard.add_command(make_agent_command(_name, _title))
guard.add_command(check)
guard.add_command(mcp)
