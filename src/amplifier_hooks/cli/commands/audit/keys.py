"""amplifier audit create-key: a key for signing checkpoints."""

from __future__ import annotations

from pathlib import Path

import click

from amplifier_hooks.cli.commands.audit.options import report_errors


@click.command("create-key")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", default="amplifier-audit", show_default=True, help="Name of the key.")
@report_errors
def create_key(path: Path, name: str) -> None:
    """Make a private key for signing checkpoints and print the public one."""
    from amplifier_audit import create_key

    click.echo(create_key(path, name).public)
