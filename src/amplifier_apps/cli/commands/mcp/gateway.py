"""amplifier mcp gateway: stand between an MCP client and a server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_apps.cli import exit_codes
from amplifier_apps.cli.options import BUNDLE

if TYPE_CHECKING:
    from amplifier_foundation.gateway.channel import Channel
    from amplifier_foundation.gateway.gateway import Connect, Settings

EPILOG = """\b
Examples:
  amplifier mcp gateway -- npx -y @modelcontextprotocol/server-filesystem .
  amplifier mcp gateway --name files --bundle strict.yaml -- mcp-server-files
  amplifier mcp gateway --http https://example.com/mcp --header-env Authorization=TOKEN

A client is configured with this command in the place of the server's own; `amplifier guard mcp`
does that for you.
"""


@click.command(epilog=EPILOG, context_settings={"ignore_unknown_options": False})
@click.option("--name", help="What the server is called in rules: mcp__NAME__tool.")
@BUNDLE
@click.option(
    "--new-tools",
    type=click.Choice(["allow", "ask"]),
    default="allow",
    show_default=True,
    help="What to do when a tool is called that was never seen before. A tool that was changed "
    "since it was allowed is always asked about.",
)
@click.option("--http", "url", metavar="URL", help="The server's address, instead of a command.")
@click.option(
    "--header-env",
    "headers",
    multiple=True,
    metavar="NAME=VARIABLE",
    help="Send this header to the server, with the value of an environment variable.",
)
@click.argument("command", nargs=-1)
def gateway(
    name: str | None,
    bundle: Path | None,
    new_tools: str,
    url: str | None,
    headers: tuple[str, ...],
    command: tuple[str, ...],
) -> int:
    """Stand between an MCP client and a server, with your hooks.

    What the client asks of the server, and the server of the client, is judged by the hooks of the
    bundle. COMMAND starts the server; --http reaches one that runs elsewhere. Standard input and
    output are the client's; messages for you go to standard error.
    """
    if bool(url) == bool(command):
        raise click.UsageError("Give the server's command after `--`, or its address with --http.")
    if headers and not url:
        raise click.UsageError("--header-env is for a server that --http reaches.")
    import asyncio

    settings = _read_settings(name, bundle, new_tools, url, command)
    return asyncio.run(_run(settings, _make_connect(url, headers, command)))


def _read_settings(
    name: str | None, bundle: Path | None, new_tools: str, url: str | None, command: tuple[str, ...]
) -> Settings:
    from amplifier_foundation.gateway.gateway import Settings
    from amplifier_foundation.mcp.names import check_server_name, make_server_name

    try:
        own = check_server_name(name) if name else make_server_name(_guess_name(url, command))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--name") from error
    return Settings(
        name=own,
        identity=[url] if url else list(command),
        folder=Path.cwd(),
        bundle=str(bundle.absolute()) if bundle else "",
        new_tools="ask" if new_tools == "ask" else "allow",
    )


def _guess_name(url: str | None, command: tuple[str, ...]) -> str:
    """What a person would call the server: the package that is run, the program, or the host."""
    if url:
        from urllib.parse import urlsplit

        return (urlsplit(url).hostname or "server").replace(".", "-")
    words = [one for one in command if not one.startswith("-")]
    runs = Path(words[0]).name in _RUNNERS if words else False
    word = words[1] if runs and len(words) > 1 else (words or command)[0]
    return Path(word.rstrip("/")).name.partition("@")[0] or Path(word).name


_RUNNERS = frozenset({"npx", "uvx", "pipx", "node", "python", "python3", "bunx", "docker"})


def _make_connect(url: str | None, headers: tuple[str, ...], command: tuple[str, ...]) -> Connect:
    async def start() -> Channel:
        from amplifier_foundation.gateway.pipes import ServerProcess

        return await ServerProcess.start(command)

    return start


async def _run(settings: Settings, connect: Connect) -> int:
    import asyncio
    import contextlib
    import signal

    from amplifier_foundation.gateway.channel import ChannelError
    from amplifier_foundation.gateway.gateway import CannotJudge, run_gateway
    from amplifier_foundation.gateway.pipes import ClientPipes, take_standard_streams

    client = await ClientPipes.open(*take_standard_streams())
    running = asyncio.ensure_future(run_gateway(client, connect, settings, _say))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, running.cancel)
    try:
        end = await running
    except CannotJudge as error:
        _say(f"error: {error}")
        return exit_codes.CONFIGURATION
    except ChannelError as error:
        _say(f"error: {error}")
        return exit_codes.FAILED
    except asyncio.CancelledError:
        return exit_codes.DONE
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
    return exit_codes.DONE if end == "client" else exit_codes.FAILED


def _say(text: str) -> None:
    """Tell the person who reads what the client keeps of its servers' messages."""
    from amplifier_apps.cli.text.escape import escape

    os.write(2, f"amplifier: {escape(text)}\n".encode("utf-8", "replace"))
