"""amplifier login-code: a one-time code for one more browser."""

from __future__ import annotations

import click

from amplifier_hooks.cli.commands.serve import STORE, use_store
from amplifier_hooks.text.escape import escape

EPILOG = """\b
Examples:
  amplifier login-code
  amplifier login-code --name ann --scope read --scope decide --minutes 60
"""


@click.command("login-code", epilog=EPILOG)
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
