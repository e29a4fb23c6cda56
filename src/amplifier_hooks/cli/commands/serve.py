"""amplifier serve, tokens and login-code: the page and the API, and who may use them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from amplifier_audit.streams import announce
from amplifier_hooks.cli.options import AS_JSON, BUNDLE
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Token
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


TOKENS_EXAMPLES = """\b
Examples:
  amplifier tokens add build-7 --scope agent
  amplifier tokens add ann --scope read --scope decide --days 90
  amplifier tokens list
  amplifier tokens revoke 6a0a16fc01c6e6fd
  amplifier tokens logout ann

Scopes: agent asks and reports, judge has events judged, and neither can ever decide; read sees
everything; decide decides, and decide:hook=GLOB or decide:tool=GLOB only some; run starts sessions;
admin makes tokens. Any other word is a scope that a bundle may require of who approves.
"""
_DAY = 24 * 3600.0


@click.group(epilog=TOKENS_EXAMPLES)
def tokens() -> None:
    """Make, list and revoke the tokens for the API of `amplifier serve`."""


@tokens.command("add")
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, required=True, help="What it is for; repeat for several."
)
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="When it ends by itself.")
@STORE
def add_command(name: str, scopes: tuple[str, ...], days: float | None, store: str | None) -> None:
    """Make a token for NAME, a person or an agent, and print it.

    It is printed once: the store keeps only its digest.
    """
    seconds = None if days is None else days * _DAY
    text, token = use_store(store, lambda open: open.access.add_token(name, scopes, seconds))
    click.echo(text)
    click.echo(f"Made token {token.id} for {escape(name)}. It is not shown again.", err=True)


@tokens.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those that are revoked or over.")
@AS_JSON
@STORE
def list_command(everything: bool, as_json: bool, store: str | None) -> None:
    """List the tokens, without their text."""
    from time import time

    found = use_store(store, lambda open: open.access.list_tokens())
    shown = [one for one in found if everything or _describe_state(one, time()) == "valid"]
    if as_json:
        for token in shown:
            click.echo(json.dumps(_to_plain(token)))
        return
    _print_tokens(shown, time())
    if not shown:
        click.echo("There are no tokens; amplifier tokens add NAME --scope SCOPE makes one.")


@tokens.command("revoke")
@click.argument("token_id", metavar="ID")
@STORE
def revoke_command(token_id: str, store: str | None) -> None:
    """End a token. ID may be its beginning."""
    token = use_store(store, lambda open: _revoke(open, token_id))
    click.echo(f"Revoked token {token.id} of {escape(token.name)}.")


@tokens.command("logout")
@click.argument("name")
@STORE
def logout_command(name: str, store: str | None) -> None:
    """Log NAME out of every browser, at once; codes that were not used yet end as well."""
    ended = use_store(store, lambda open: open.access.end_logins(name))
    if not ended:
        raise click.ClickException(f"{escape(name)} is logged in nowhere, and has no code")
    click.echo(f"Ended {ended} {'login' if ended == 1 else 'logins'} and codes of {escape(name)}.")


async def _revoke(store: Any, beginning: str) -> Token:
    matches = [one for one in await store.access.list_tokens() if one.id.startswith(beginning)]
    if not beginning or len(matches) != 1:
        found = f"{len(matches)} tokens begin" if matches else "No token begins"
        raise click.ClickException(
            f"{found} with {escape(beginning)!r}; see: amplifier tokens list"
        )
    revoked: Token = await store.access.revoke_token(matches[0].id)
    return revoked


def _print_tokens(shown: list[Token], now: float) -> None:
    from amplifier_hooks.cli.text.table import Column, print_table

    rows = [
        (
            one.id,
            escape(one.name),
            escape(" ".join(sorted(one.scopes))),
            _describe_state(one, now),
            _describe_use(one),
        )
        for one in shown
    ]
    print_table(rows, Column(), Column(), Column("tool"), Column(), Column("dim"))


def _describe_state(token: Token, now: float) -> str:
    if token.revoked is not None:
        return "revoked"
    if token.expires is not None and token.expires <= now:
        return "over"
    return "valid"


def _describe_use(token: Token) -> str:
    from datetime import UTC, datetime

    from amplifier_hooks.cli.text.output import format_age

    if token.last_used is None:
        return "never used"
    return f"used {format_age(datetime.fromtimestamp(token.last_used, UTC).isoformat())}"


def _to_plain(token: Token) -> dict[str, Any]:
    return {**asdict(token), "scopes": sorted(token.scopes)}


CODE_EXAMPLES = """\b
Examples:
  amplifier login-code
  amplifier login-code --name ann --scope read --scope decide --minutes 60
"""


@click.command("login-code", epilog=CODE_EXAMPLES)
@click.option("--name", help="Who logs in with it. [default: you]")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=("read", "decide"),
    show_default=True,
    help="What the login is for; repeat for several: read, decide, run, admin.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(0, 24 * 60, min_open=True),
    default=10.0,
    show_default=True,
    help="How long the code can be used.",
)
@STORE
def login_code(
    name: str | None, scopes: tuple[str, ...], minutes: float, store: str | None
) -> None:
    """Print a code that logs one browser in to `amplifier serve`, once."""
    from amplifier_hooks.machine.locations import get_user_name

    person = name or get_user_name()
    code = use_store(store, lambda open: open.access.add_code(person, scopes, seconds=minutes * 60))
    click.echo(code)
    click.echo(f"For {escape(person)}, once, within {minutes:g} minutes.", err=True)
