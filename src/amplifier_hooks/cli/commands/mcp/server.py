"""amplifier mcp server: let agents ask what they may do, what waits and what happened."""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import BUNDLE

if TYPE_CHECKING:
    from amplifier_hooks.mcp.server.toolbox import Settings, Toolbox

TOKEN = "AMPLIFIER_MCP_TOKEN"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
EPILOG = """\b
Examples:
  amplifier mcp server
  claude mcp add amplifier -- amplifier mcp server
  amplifier mcp server --folder ~/projects/shop
  amplifier mcp server --listen 8765

Over a port, clients send the header Authorization: Bearer TOKEN. The token is $AMPLIFIER_MCP_TOKEN;
without it, one is made and printed to standard error.
"""

_WAITING = "This waits for an MCP client on standard input; --help says how to add it to one."


def read_place(
    context: click.Context, parameter: click.Parameter, given: str | None
) -> tuple[str, int] | None:
    """The host, which is this machine, and the port."""
    if given is None:
        return None
    found = re.fullmatch(r"(?:(.*):)?(\d{1,5})", given)
    host = (found[1] or "127.0.0.1").strip("[]") if found else ""
    port = int(found[2]) if found else 0
    if not 0 < port < 65536:
        raise click.BadParameter(f"{given!r} is no place to listen; write PORT or HOST:PORT")
    if host not in LOOPBACK:
        raise click.BadParameter(
            f"{host!r} may be another machine's; this server listens on {', '.join(LOOPBACK)} only"
        )
    return host, port


@click.command(epilog=EPILOG)
@BUNDLE
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The project: its bundle, and the sessions and approvals of it and of folders below. "
    "[default: where this is started]",
)
@click.option("--all", "everything", is_flag=True, help="Show what happened in all your folders.")
@click.option(
    "--store",
    metavar="PATH|URL",
    help="The store of approvals. [default: the bundle's, $AMPLIFIER_STORE, or your own]",
)
@click.option(
    "--evaluate",
    "evaluated",
    multiple=True,
    metavar="MODULE",
    help="Also ask the hooks of this module of yours, by its name in the bundle: you say that they "
    "change nothing when they are asked. Repeatable.",
)
@click.option(
    "--listen",
    "place",
    metavar="[HOST:]PORT",
    callback=read_place,
    help="Serve streamable HTTP on this machine instead of standard input.",
)
def server(
    bundle: Path | None,
    folder: Path | None,
    everything: bool,
    store: str | None,
    evaluated: tuple[str, ...],
    place: tuple[str, int] | None,
) -> None:
    """Let agents ask what they may do, what waits and what happened.

    An MCP server with tools that only read: check_call, list_hooks, list_approvals, get_approval,
    list_sessions, search_trail, get_record, get_statistics and verify_trail. Nothing in it can
    decide. Standard input and output are the client's.
    """
    settings = _read_settings(bundle, folder, store, evaluated, everything=everything)
    import asyncio

    asyncio.run(_serve(settings, place))


def _read_settings(
    bundle: Path | None,
    folder: Path | None,
    store: str | None,
    evaluated: tuple[str, ...],
    *,
    everything: bool,
) -> Settings:
    from amplifier_hooks.mcp.server.toolbox import Settings
    from amplifier_hooks.mcp.server.trails import TooWide, choose_scope

    here = (folder or Path.cwd()).absolute()
    try:
        scope = choose_scope(here, everything=everything)
    except TooWide as error:
        raise click.UsageError(str(error)) from error
    file = None if bundle is None else bundle.absolute()
    return Settings(here, scope, file, store, evaluated)


async def _serve(settings: Settings, place: tuple[str, int] | None) -> None:
    from amplifier_hooks.mcp.server.toolbox import Toolbox

    _require_sdk()
    toolbox = Toolbox(settings)
    if place is None:
        if sys.stdin.isatty():
            click.echo(_WAITING, err=True)
        end_at_interrupt()
        await _serve_client(toolbox)
        return
    from amplifier_hooks.http_guard import bracket
    from amplifier_hooks.http_guard.server import bind
    from amplifier_hooks.mcp.server.server import PATH, serve_http

    taken = bind(*place)
    token = os.environ.get(TOKEN) or _make_token()
    click.echo(f"Listening on http://{bracket(place[0])}:{place[1]}{PATH}", err=True)
    await serve_http(toolbox, taken, token)


async def _serve_client(toolbox: Toolbox) -> None:
    from amplifier_hooks.mcp.server.server import serve_stdio

    try:
        await serve_stdio(toolbox)
    except* BrokenPipeError:  # the client has gone, and nobody is left to serve
        pass


def end_at_interrupt() -> None:
    """Let Ctrl-C end the process; the thread that reads standard input would not notice it."""
    import asyncio
    import signal

    # Nothing here is left to be saved.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, os._exit, exit_codes.INTERRUPTED)


def _make_token() -> str:
    token = secrets.token_urlsafe(32)
    click.echo(f"Clients send the header: Authorization: Bearer {token}", err=True)
    return token


def _require_sdk() -> None:
    from importlib.util import find_spec

    from amplifier_hooks.modules.installation import name_install_command

    if find_spec("mcp") is None:
        needed = name_install_command("mcp")
        raise click.ClickException(f"An MCP server needs the mcp package: {needed}")
