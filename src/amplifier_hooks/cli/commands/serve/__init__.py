"""amplifier serve: approvals, sessions and statistics on a page and over an API."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from amplifier_audit.streams import announce
from amplifier_hooks.cli.options import BUNDLE

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store
    from amplifier_hooks.server.settings import ServerSettings


T = TypeVar("T")

STORE = click.option(
    "--store",
    metavar="PATH|URL",
    help="The store: a file, or postgresql://… [default: $AMPLIFIER_STORE, or your own]",
)
_PACKAGES = ("fastapi", "uvicorn", "websockets")


def require_server() -> None:
    """Say what to install if the server's packages are missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        from amplifier_hooks.modules.installation import name_install_command

        raise click.ClickException(
            f"The server needs more packages ({', '.join(missing)}): {name_install_command('web')}"
        )


def use_store(url: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open a store, do something with it, close it; not for an agent's own commands."""
    from amplifier_hooks.cli.person import refuse_agents

    refuse_agents()

    async def run() -> T:
        from amplifier_hooks.approvals.stores.store import open_store

        async with await open_store(url) as store:
            return await work(store)

    return asyncio.run(run())


EPILOG = """\b
Examples:
  amplifier serve
  amplifier serve --port 9000 --store postgresql://db/approvals
  amplifier serve --host 10.0.0.5 --tls-cert cert.pem --tls-key key.pem
  amplifier serve --behind-proxy --allow-host agents.example.com
"""
LEVELS = ("warning", "info", "debug", "error")
FORMATS = ("text", "json")
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog=EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8411,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@STORE
@click.option("--tls-cert", type=_FILE, help="Certificate (PEM), with those that it depends on.")
@click.option("--tls-key", type=_FILE, help="Private key (PEM) of the certificate.")
@click.option(
    "--behind-proxy", is_flag=True, help="A proxy in front does TLS and sets X-Forwarded-For."
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME[:PORT]",
    help="A name under which people reach this server; repeat it for several.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="Another address of the page itself, where a proxy changes it: https://NAME:PORT.",
)
@click.option(
    "--keep-days",
    type=click.IntRange(30),
    metavar="DAYS",
    help="Remove ended sessions and approvals, and hourly figures, after that time; at least 30.",
)
@click.option(
    "--wait-for-store",
    "wait_seconds",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to try, at the start, while the database does not answer.",
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
def serve(
    host: str,
    port: int,
    store: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    keep_days: int | None,
    wait_seconds: float,
    log_level: str,
    log_format: str,
    bundle: Path | None,
) -> None:
    """Show approvals, sessions and statistics in the browser, and offer an API for them.

    Prints the address and a one-time code to log in with. Only this machine can reach it, unless
    it is told otherwise. Ctrl-C ends it; what is in the store stays.
    """
    require_server()
    import asyncio

    from amplifier_hooks.cli.person import refuse_agents
    from amplifier_hooks.server.logs import set_up_logging
    from amplifier_hooks.server.server import serve as run_server
    from amplifier_hooks.server.settings import ServerSettings

    refuse_agents()  # the code that is printed logs in whoever reads it
    settings = ServerSettings(
        host=host,
        port=port,
        tls_cert=tls_cert,
        tls_key=tls_key,
        allowed_hosts=hosts,
        allowed_origins=origins,
        behind_proxy=behind_proxy,
        keep_days=keep_days,
        bundle=bundle,
    )
    set_up_logging(log_level, log_format)
    asyncio.run(run_server(settings, store, ready=_announce, wait_seconds=wait_seconds))
    announce("Stopped. Whatever waits is still in the store.")


async def _announce(store: Store, settings: ServerSettings) -> None:
    """Say where the server is, and how the person who started it gets in."""
    from amplifier_hooks.machine.locations import get_user_name
    from amplifier_hooks.server.settings import name_address

    address = name_address(settings)
    announce(f"Listening on {address}")
    if _writes_to_journal():  # which others read, and for longer than a screen
        announce("Log in with a code from: amplifier login-code")
        return
    code = await store.access.add_code(get_user_name(), ("read", "decide", "run", "admin"))
    announce(f"Log in with the code {code} (once, within 10 minutes): {address}/#code={code}")


def _writes_to_journal() -> bool:
    """Whether what is printed goes to the journal of systemd, as a service's does."""
    facts = os.fstat(1)
    return os.environ.get("JOURNAL_STREAM") == f"{facts.st_dev}:{facts.st_ino}"
