"""amplifier tokens: who may use the API, and for what."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli.commands.serve import STORE, use_store
from amplifier_hooks.cli.options import AS_JSON
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Token

EPILOG = """\b
Examples:
  amplifier tokens add build-7 --scope agent
  amplifier tokens add ann --scope read --scope decide --days 90
  amplifier tokens list
  amplifier tokens revoke 6a0a16fc01c6e6fd
  amplifier tokens logout ann

Scopes: agent asks and reports, and can never decide; read sees everything; decide decides, and
decide:hook=GLOB or decide:tool=GLOB only some; run starts sessions; admin makes tokens. Any other
word is a scope that a bundle may require of who approves.
"""
_DAY = 24 * 3600.0


@click.group(epilog=EPILOG)
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
