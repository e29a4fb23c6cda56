"""amplifier judge: judges events of programs in any language, over HTTP, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_audit.streams import announce
from amplifier_hooks.cli.commands.serve import FORMATS, LEVELS, require_server
from amplifier_hooks.cli.options import BUNDLE

if TYPE_CHECKING:
    from amplifier_hooks.server.judge_server import ListenSettings

EPILOG = """\b
Examples:
  amplifier judge
  amplifier judge --port 0 --bundle strict.yaml
  amplifier judge --socket /run/user/1000/judge.sock
"""


@click.command(epilog=EPILOG)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The loopback address to listen on."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8412,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--socket",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Listen on a Unix socket there instead, which only you can open.",
)
@click.option(
    "--log-level",
    type=click.Choice(LEVELS),
    default="warning",
    show_default=True,
    help="What to log: warning has failures, info also refused requests, debug all.",
)
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to log, to standard error: lines of text, or of JSON.",
)
@BUNDLE
def judge(
    host: str,
    port: int,
    path: Path | None,
    log_level: str,
    log_format: str,
    bundle: Path | None,
) -> None:
    """Judge the events of programs in any language, over HTTP on this machine.

    Programs ask it whether their agent may do something, by the bundle of this folder, and people
    answer with `amplifier approvals`. Prints its address, and in which file its token is. Only this
    machine can reach it. Ctrl-C ends it, and the sessions in it.
    """
    require_server()
    import asyncio

    from amplifier_hooks.server.judge_server import (
        ListenSettings,
        find_token_file,
        read_token,
        serve_judge,
    )
    from amplifier_hooks.server.logs import set_up_logging
    from amplifier_hooks.server.settings import JudgeSettings

    token_file = find_token_file()
    set_up_logging(log_level, log_format)

    def say_where(settings: ListenSettings) -> None:
        announce(f"Listening on {settings.address}")
        announce(f"The token is in {token_file}")

    settings = ListenSettings(host, port, path, JudgeSettings(bundle, Path.cwd()))
    asyncio.run(serve_judge(settings, read_token(token_file), say_where))
    announce("Stopped. Sessions that were open have ended.")
