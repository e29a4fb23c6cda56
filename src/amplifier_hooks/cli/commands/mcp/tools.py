"""amplifier mcp tools: what servers said of their tools, as people allowed it, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import AS_JSON

if TYPE_CHECKING:
    from amplifier_hooks.guards.mcp.definitions import KnownServer

EPILOG = """\b
Examples:
  amplifier mcp tools list
  amplifier mcp tools show time
  amplifier mcp tools show time get_current_time
  amplifier mcp tools allow time get_current_time
  amplifier mcp tools forget time
"""
_SERVER = click.argument("server")


@click.group(epilog=EPILOG, invoke_without_command=True)
@click.pass_context
def tools(ctx: click.Context) -> None:
    """List, allow and forget what servers said of their tools.

    A tool of an MCP server is kept to the description and the schema that you allowed. If its
    server changes them, calls ask you again; here you can look at the change and allow it before.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_servers)


@tools.command("list")
@AS_JSON
def list_servers(as_json: bool = False) -> int:
    """List the servers that are known, with their tools."""
    from amplifier_hooks.guards.mcp.definitions import KnownTools

    found = KnownTools().list_servers()
    if as_json:
        _print_json([_to_dict(one) for one in found])
        return exit_codes.DONE
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    rows = [
        (one.id, escape(one.name), _count(one), escape(" ".join(one.identity))) for one in found
    ]
    print_table(rows, Column("dim"), Column(), Column(), Column())
    if not found:
        click.echo("No MCP server is known. Their tools are noted when they are used first.")
    return exit_codes.DONE


@tools.command("show")
@_SERVER
@click.argument("tool", required=False)
@AS_JSON
def show_server(server: str, tool: str | None, as_json: bool) -> int:
    """Show the tools of SERVER (its name or id), or one TOOL with its definition."""
    known = _find(server)
    if as_json:
        whole = _to_dict(known)
        _print_json(whole if tool is None else whole["tools"][_check_tool(known, tool)])
        return exit_codes.DONE
    for name in _list_names(known) if tool is None else [_check_tool(known, tool)]:
        _print_tool(known, name, whole=tool is not None)
    return exit_codes.DONE


@tools.command("allow")
@_SERVER
@click.argument("tool")
@click.option("--digest", help="Allow the definition with this digest, without asking.")
def allow_tool(server: str, tool: str, digest: str | None) -> int:
    """Look at what SERVER says of TOOL now, and allow it."""
    from amplifier_hooks.cli.person import confirm, refuse_agents
    from amplifier_hooks.guards.mcp.definitions import KnownTools, digest_definition
    from amplifier_hooks.machine.locations import get_user_name
    from amplifier_hooks.text.escape import escape

    refuse_agents()
    known = _find(server)
    waiting = known.waiting.get(_check_tool(known, tool))
    if waiting is None:
        click.echo(f"{escape(tool)} is allowed as it was seen last.")
        return exit_codes.DONE
    found = digest_definition(waiting)
    if digest is None:
        _print_tool(known, tool, whole=True)
        if not confirm("Allow it as it is now?", f"--digest {found}"):
            click.echo("Nothing was changed.")
            return exit_codes.FAILED
    elif digest != found:
        raise click.ClickException(f"The definition has the digest {found}, not {digest}")
    KnownTools().allow(known.identity, known.name, [waiting], get_user_name())
    click.echo(f"Allowed {escape(tool)} of {escape(known.name)}.")
    return exit_codes.DONE


@tools.command("forget")
@_SERVER
@click.argument("names", metavar="[TOOL]...", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget_tools(server: str, names: tuple[str, ...], yes: bool) -> int:
    """Forget the TOOLs of SERVER, or all of them: they are new when they are seen next."""
    from amplifier_hooks.cli.person import confirm, refuse_agents
    from amplifier_hooks.guards.mcp.definitions import KnownTools
    from amplifier_hooks.text.escape import escape

    refuse_agents()
    known = _find(server)
    wanted = [_check_tool(known, one) for one in names] or _list_names(known)
    if not yes and not confirm(f"Forget {len(wanted)} tools of {escape(known.name)}?", "--yes"):
        click.echo("Nothing was changed.")
        return exit_codes.FAILED
    click.echo(f"Forgot {KnownTools().forget(known.identity, wanted)} tools.")
    return exit_codes.DONE


def _find(wanted: str) -> KnownServer:
    from amplifier_core.utils.text import suggest
    from amplifier_hooks.guards.mcp.definitions import KnownTools

    servers = KnownTools().list_servers()
    found = [one for one in servers if wanted in (one.name, one.id)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one.id for one in found)
        raise click.ClickException(
            f"Several servers are called {wanted!r}; name one by its id: {ids}"
        )
    names = [one.name for one in servers]
    raise click.ClickException(f"No server {wanted!r} is known; {suggest(wanted, names)}")


def _check_tool(server: KnownServer, tool: str) -> str:
    from amplifier_core.utils.text import suggest

    names = _list_names(server)
    if tool not in names:
        raise click.ClickException(
            f"The server {server.name} has no tool {tool!r}; {suggest(tool, names)}"
        )
    return tool


def _list_names(server: KnownServer) -> list[str]:
    return sorted({*server.tools, *server.waiting})


def _count(server: KnownServer) -> str:
    waiting = f", {len(server.waiting)} to be allowed" if server.waiting else ""
    return f"{len(server.tools)} tools{waiting}"


def _print_tool(server: KnownServer, name: str, *, whole: bool) -> None:
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.guards.mcp.definitions import describe_change, describe_definition
    from amplifier_hooks.text.escape import escape

    allowed = server.tools.get(name)
    waiting = server.waiting.get(name)
    state = f"allowed {allowed.at} ({allowed.by})" if allowed else "not allowed yet"
    print_line(("title", escape(name)), ("dim", f"  {escape(state)}"))
    if whole and allowed:
        print_line(escape(describe_definition(allowed.definition), lines=True))
    if waiting is None:
        return
    print_line(("bad", "Its server now says something else:" if allowed else "It says of itself:"))
    told = describe_change(allowed.definition, waiting) if allowed else describe_definition(waiting)
    print_line(escape(told, lines=True))


def _to_dict(server: KnownServer) -> dict[str, Any]:
    from dataclasses import asdict

    from amplifier_hooks.guards.mcp.definitions import digest_definition

    known: dict[str, dict[str, Any]] = {name: {} for name in _list_names(server)}
    for name, one in server.tools.items():
        known[name] |= {"allowed": asdict(one)}
    for name, waiting in server.waiting.items():
        mark = digest_definition(waiting)
        known[name] |= {"waiting": {"definition": waiting, "digest": mark}}
    return {"id": server.id, "name": server.name, "identity": server.identity, "tools": known}


def _print_json(value: Any) -> None:
    import json

    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
