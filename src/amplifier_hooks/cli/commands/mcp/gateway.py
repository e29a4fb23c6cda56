"""amplifier mcp gateway: stand between an MCP client and a server."""

from __future__ import annotations

import os
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.options import BUNDLE

if TYPE_CHECKING:
    from amplifier_hooks.mcp.gateway.channel import Channel
    from amplifier_hooks.mcp.gateway.gateway import Connect, Settings
    from amplifier_hooks.mcp.gateway.http import ListenSettings

EPILOG = """\b
Examples:
  amplifier mcp gateway -- npx -y files-server .
  amplifier mcp gateway --name files --bundle strict.yaml -- mcp-server-files
  amplifier mcp gateway --http https://example.com/mcp --header-env Authorization=TOKEN
  amplifier mcp gateway --listen 8931 -- mcp-server-files

A client is configured with this command in the place of the server's own; `amplifier guard mcp`
does that for you.
"""


@click.command(epilog=EPILOG)
@click.option("--name", help="What the server is called in rules: mcp__NAME__tool.")
@BUNDLE
@click.option(
    "--folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Judge by the bundle of this folder, and not of the one that the server starts in.",
)
@click.option(
    "--new-tools",
    type=click.Choice(["allow", "ask"]),
    default="allow",
    show_default=True,
    help="Whether to ask before a tool is called that was never seen before. One that was changed "
    "since it was allowed is always asked about.",
)
@click.option("--http", "url", metavar="URL", help="The server's address, instead of a command.")
@click.option(
    "--http-env",
    "url_env",
    metavar="VARIABLE",
    help="The environment variable with the server's address: others cannot read it there.",
)
@click.option(
    "--header-env",
    "headers",
    multiple=True,
    metavar="NAME=VARIABLE",
    help="Send this header to the server, with the value of an environment variable. A word may "
    "stand before it: 'Authorization=Bearer TOKEN'.",
)
@click.option(
    "--listen",
    metavar="[HOST:]PORT",
    help="Let clients connect by HTTP, at http://HOST:PORT/mcp, instead of standard input.",
)
@click.option(
    "--token-env",
    metavar="VARIABLE",
    help="With --listen: clients have to send the value of this variable as a bearer token.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="With --listen: a further name under which clients reach this machine.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="With --listen: a page that may connect, such as http://localhost:5173.",
)
@click.option(
    "--pass-authorization",
    is_flag=True,
    help="With --listen and --http: the server gets the Authorization header of the client.",
)
@click.argument("command", nargs=-1)
def gateway(
    name: str | None,
    bundle: Path | None,
    folder: Path | None,
    new_tools: str,
    url: str | None,
    url_env: str | None,
    headers: tuple[str, ...],
    listen: str | None,
    token_env: str | None,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    pass_authorization: bool,
    command: tuple[str, ...],
) -> int:
    """Stand between an MCP client and a server, with your hooks.

    What the client asks of the server, and the server of the client, is judged by the hooks of the
    bundle. COMMAND starts the server; --http reaches one that runs elsewhere. Standard input and
    output are the client's, unless --listen is given; messages for you go to standard error.
    """
    if [bool(url), bool(url_env), bool(command)].count(True) != 1:
        raise click.UsageError("Give the server's command after `--`, or its address with --http.")
    url = _read_variable(url_env, "--http-env") if url_env else url
    if headers and not url:
        raise click.UsageError("--header-env is for a server that --http reaches.")
    if (token_env or hosts or origins or pass_authorization) and not listen:
        raise click.UsageError(
            "--token-env, --allow-host, --allow-origin and --pass-authorization are for --listen."
        )
    import asyncio
    from dataclasses import replace

    from amplifier_hooks.mcp.gateway.channel import ChannelError

    settings = _read_settings(name, bundle, folder or Path(), new_tools, url, command)
    server = _Server(url, _read_headers(headers), command)
    if listen is None:
        return asyncio.run(_run(_serve_pipes(settings, server)))
    try:
        where = replace(
            _read_listening(listen, token_env, pass_authorization),
            hosts=frozenset(hosts),
            origins=frozenset(origins),
        )
    except ChannelError as error:
        raise click.UsageError(str(error)) from error
    os.environ.pop(token_env or "", None)  # the server is no client
    return asyncio.run(_run(_serve_http(settings, server, where)))


def _read_settings(
    name: str | None,
    bundle: Path | None,
    folder: Path,
    new_tools: str,
    url: str | None,
    command: tuple[str, ...],
) -> Settings:
    from amplifier_hooks.guards.mcp.protocol import check_server_name, make_server_name
    from amplifier_hooks.mcp.gateway.gateway import Settings, guess_name, identify_server

    try:
        own = check_server_name(name) if name else make_server_name(guess_name(url, command))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--name") from error
    return Settings(
        name=own,
        identity=identify_server(url, command, Path.cwd()),
        folder=folder.absolute(),
        bundle=str(bundle.absolute()) if bundle else "",
        new_tools="ask" if new_tools == "ask" else "allow",
    )


def _read_headers(given: tuple[str, ...]) -> dict[str, str]:
    """The headers, with values that stand on no command line."""
    found: dict[str, str] = {}
    for one in given:
        name, _, value = one.partition("=")
        scheme, space, variable = value.rpartition(" ")
        if not name or not variable:
            raise click.BadParameter(f"{one!r} is no NAME=VARIABLE", param_hint="--header-env")
        found[name] = scheme + space + _read_variable(variable, "--header-env")
    return found


def _read_variable(name: str, option: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise click.BadParameter(f"the variable {name} is not set", param_hint=option)
    return value


def _read_listening(listen: str, token_env: str | None, pass_authorization: bool) -> ListenSettings:
    from amplifier_hooks.mcp.gateway.http import ListenSettings, parse_address

    host, port = parse_address(listen)
    token = _read_variable(token_env, "--token-env") if token_env else ""
    return ListenSettings(host, port, token, passes_authorization=pass_authorization)


class _Server:
    """Reaches the server, once for each client."""

    def __init__(self, url: str | None, headers: dict[str, str], command: tuple[str, ...]) -> None:
        self._url = url
        self._headers = headers
        self._command = command

    def connect_for(self, more: dict[str, str]) -> Connect:
        """How to reach it for a client with these headers."""

        async def connect() -> Channel:
            if self._url is None:
                from amplifier_hooks.mcp.gateway.pipes import ServerProcess

                return await ServerProcess.start(self._command)
            from amplifier_hooks.mcp.gateway.http import HttpServer

            return HttpServer(self._url, {**self._headers, **more})

        return connect


async def _serve_pipes(settings: Settings, server: _Server) -> int:
    from amplifier_hooks.mcp.gateway.gateway import run_gateway
    from amplifier_hooks.mcp.gateway.pipes import ClientPipes, open_standard_streams

    client = await ClientPipes.open(*open_standard_streams())
    end = await run_gateway(client, server.connect_for({}), settings, _say)
    return exit_codes.DONE if end == "client" else exit_codes.FAILED


async def _serve_http(settings: Settings, server: _Server, where: ListenSettings) -> int:
    from amplifier_hooks.mcp.gateway.gateway import check_plan, run_gateway
    from amplifier_hooks.mcp.gateway.http import listen

    async def serve(client: Channel, headers: Any) -> object:
        return await run_gateway(client, server.connect_for(dict(headers)), settings, _say)

    await check_plan(settings)
    await listen(where, serve, ready=lambda address: _say(f"clients connect to {address}"))
    return exit_codes.DONE


async def _run(work: Coroutine[Any, Any, int]) -> int:
    """Run until the end, or until a signal, which ends everything in order."""
    import asyncio
    import signal

    from amplifier_hooks.mcp.gateway.channel import ChannelError
    from amplifier_hooks.mcp.gateway.gateway import CannotJudge

    running = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, running.cancel)
    try:
        return await running
    except CannotJudge as error:
        _say(f"error: {error}")
        return exit_codes.CONFIGURATION
    except ChannelError as error:
        _say(f"error: {error}")
        return exit_codes.FAILED
    except asyncio.CancelledError:
        return exit_codes.DONE


def _say(text: str) -> None:
    """Tell the person who reads what the client keeps of its servers' messages."""
    from amplifier_hooks.mcp.gateway.pipes import write_if_room
    from amplifier_hooks.text.escape import escape

    # Some clients never read it, and everything would stand still for a full pipe.
    write_if_room(2, f"amplifier: {escape(text)}".encode("utf-8", "replace"))
