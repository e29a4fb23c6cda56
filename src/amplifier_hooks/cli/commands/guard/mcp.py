"""amplifier guard mcp: put the gateway before the MCP servers of clients, and take it out again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON, BUNDLE
from amplifier_hooks.guards.mcp.client_files import CLIENTS

if TYPE_CHECKING:
    from amplifier_hooks.cli.commands.guard.mcp_report import Report

EPILOG = """\b
Examples:
  amplifier guard mcp                          before the servers of every client
  amplifier guard mcp --client claude --user
  amplifier guard mcp --bundle ~/strict.yaml
  amplifier guard mcp --status
  amplifier guard mcp --remove

A server that is added to a client later has no gateway before it until this is run again.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--client",
    type=click.Choice(list(CLIENTS)),
    help="Only this client. [default: all that are on this machine]",
)
@click.option("--user", "scope", flag_value="user", help="Only servers for you, in every folder.")
@click.option("--project", "scope", flag_value="project", help="Only servers for this project.")
@BUNDLE
@click.option(
    "--open",
    "open_servers",
    multiple=True,
    metavar="NAME",
    help="This server elsewhere needs no login, although it has no headers.",
)
@click.option(
    "--new-tools",
    type=click.Choice(["allow", "ask"]),
    help="Whether to ask before a tool is called that was never seen before. [default: allow]",
)
@click.option("--status", "show", is_flag=True, help="Show which servers are guarded.")
@click.option("--remove", is_flag=True, help="Take the gateway out, and leave no trace.")
@AS_JSON
def mcp(
    client: str | None,
    scope: str | None,
    bundle: Path | None,
    open_servers: tuple[str, ...],
    new_tools: str | None,
    show: bool,
    remove: bool,
    as_json: bool,
) -> int:
    """Put the gateway before the MCP servers of Claude Code, Codex and others.

    Whatever the client asks of a server is then judged by the hooks of the bundle. The servers
    keep their names, environment and other settings. --status ends with 0 only if every server
    that is switched on is guarded.
    """
    if show and remove:
        raise click.UsageError("Use only one of --status and --remove")
    if (show or remove) and (bundle or open_servers or new_tools):
        raise click.UsageError(
            "--bundle, --open and --new-tools say what to install; "
            "they do not go with --status and --remove"
        )
    from amplifier_hooks.cli.commands.guard.mcp_report import Report
    from amplifier_hooks.coding_agents.installing.places import find_root

    root, _ = find_root(Path.cwd())
    report = Report(client, scope or "all", Path.cwd(), root)
    if remove:
        _remove(report)
    elif not show:
        _install(report, bundle, frozenset(open_servers), new_tools or "")
    report.show(as_json=as_json, removed=remove)
    stands = remove or report.stands
    return exit_codes.DONE if stands and not report.failures else exit_codes.FAILED


def _install(
    report: Report, bundle: Path | None, open_servers: frozenset[str], new_tools: str
) -> None:
    from amplifier_hooks.cli.commands.guard.trusting import require_trust
    from amplifier_hooks.cli.person import refuse_agents
    from amplifier_hooks.mcp.gateway.clients.entry import Wish
    from amplifier_hooks.mcp.gateway.clients.installation import put_before
    from amplifier_hooks.mcp.gateway.clients.line import make_gateway

    refuse_agents()
    report.check_names(open_servers)
    full = None if bundle is None else bundle.absolute()
    require_trust(full, report.root)
    wish = Wish(make_gateway(full, new_tools), open_servers)
    report.change(lambda client, places, records: put_before(client, places, wish, records))


def _remove(report: Report) -> None:
    from amplifier_hooks.cli.person import refuse_agents
    from amplifier_hooks.mcp.gateway.clients.installation import take_out

    refuse_agents()
    report.change(take_out)
