"""`amplifier backups`: the copies that hooks-backup made, and the way back to them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.guards.backup import Backup

_directory = click.option(
    "--dir",
    "backup_dir",
    type=click.Path(path_type=Path),
    help="Where the backups are; by default those of this folder, in amplifier's own data.",
)


@click.group()
def backups() -> None:
    """List and restore files that were overwritten."""


@backups.command("list")
@_directory
@click.option("--file", "part", help="Only files whose path contains this.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def list_command(backup_dir: Path | None, part: str | None, limit: int, as_json: bool) -> None:
    """List the backups, the newest first."""
    from amplifier_hooks.guards.backup import DIRECTORY, list_backups

    older = backup_dir is None and Path(DIRECTORY).is_dir()
    backup_dir = _find_store(backup_dir)
    found = [one for one in list_backups(backup_dir) if part is None or part in one.path]
    if as_json:
        for backup in found[:limit]:
            click.echo(_to_json(backup))
        return
    _print_backups(found[:limit])
    if not found:
        hint = f" There are older ones: --dir {DIRECTORY}" if older else ""
        click.echo(f"No backups in {escape(str(backup_dir))}.{hint}")
    elif len(found) > limit:
        click.echo(f"{len(found) - limit} more; see them with --limit {len(found)}.")


@backups.command("restore")
@click.argument("backup_id", metavar="ID")
@_directory
@click.option("--to", type=click.Path(path_type=Path), help="Put it here instead.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_command(backup_id: str, backup_dir: Path | None, to: Path | None, yes: bool) -> None:
    """Put a backup back. ID may be its beginning; what is there now is backed up first."""
    from amplifier_hooks.cli.person import confirm
    from amplifier_hooks.guards.backup import find_backup, restore

    backup_dir = _find_store(backup_dir)
    backup = find_backup(backup_dir, backup_id)
    if not yes:
        where = escape(str(to or backup.path))
        question = f"Overwrite {where} with the {backup.size} bytes of {_format_time(backup)}?"
        if not confirm(question, "--yes"):
            click.echo("Nothing was changed.")
            click.get_current_context().exit(exit_codes.FAILED)
    target = restore(backup_dir, backup.id, to=to, within=Path.cwd())
    click.echo(f"Restored {escape(str(target))}.")


def _find_store(given: Path | None) -> Path:
    from amplifier_hooks.guards.backup import locate_store

    return locate_store(Path.cwd()) if given is None else given


def _print_backups(backups: list[Backup]) -> None:
    from amplifier_hooks.cli.text.table import Column, print_table

    rows = [
        (one.id, _format_time(one), str(one.size), escape(one.tool), escape(one.path))
        for one in backups
    ]
    size = Column(width=9, align="right")
    print_table(rows, Column(), Column(), size, Column(width=9), Column())


def _to_json(backup: Backup) -> str:
    return json.dumps({**asdict(backup), "created": backup.created.isoformat()})


def _format_time(backup: Backup) -> str:
    return backup.created.astimezone().strftime("%Y-%m-%d %H:%M:%S")
