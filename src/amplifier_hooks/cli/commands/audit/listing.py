"""amplifier audit list: the trails there are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli.commands.audit.options import AS_JSON, report_errors
from amplifier_hooks.cli.commands.audit.records import list_session_ids

if TYPE_CHECKING:
    from amplifier_audit import LogFiles
    from amplifier_hooks.agent.session.inspection.trails import Trail
    from amplifier_hooks.cli.text.table import Cell

EPILOG = """\b
Examples:
  amplifier audit list
  amplifier audit list --here
  amplifier audit verify 3f2a
"""
MOST_BYTES = 64 << 20
"""Larger trails are not read for a list."""


@dataclass(frozen=True, slots=True)
class Row:
    """One trail, as far as it can be told without verifying it."""

    id: str
    path: str
    updated: str
    folder: str
    bundle: str
    records: int | None
    sessions: int | None
    proof: str
    self_test: bool = False


@click.command("list", epilog=EPILOG)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many; 0 for all.",
)
@click.option("--here", is_flag=True, help="Only trails of sessions in this folder.")
@AS_JSON
@report_errors
def list_command(limit: int, here: bool, as_json: bool) -> None:
    """List the trails, newest first, and what could prove them."""
    from amplifier_hooks.agent.session.inspection.trails import list_roots
    from amplifier_hooks.cli.commands.audit.trails import report_unused_path

    report_unused_path()
    roots = list_roots()
    trails = _list_latest(roots)
    if here:
        rows = [row for row in map(_read_row, trails) if row.folder == str(Path.cwd())]
        shown = rows[: limit or None]
        count = len(rows)
    else:
        shown = [*map(_read_row, trails[: limit or None])]
        count = len(trails)
    if as_json:
        click.echo(json.dumps([asdict(row) for row in shown], indent=2))
        return
    where = "of this folder" if here else f"in {' or '.join(map(str, roots))}"
    _print_rows(shown, count - len(shown), where)


def _list_latest(roots: list[Path]) -> list[Trail]:
    from amplifier_hooks.agent.session.inspection.trails import list_trails

    found = [trail for root in roots for trail in list_trails(root)]
    return sorted(found, key=lambda trail: trail.updated, reverse=True)


def _read_row(trail: Trail) -> Row:
    from amplifier_audit import AuditError, open_log
    from amplifier_hooks.agent.session.inspection.trails import find_trail_origin
    from amplifier_hooks.agent.session.origin import is_self_test

    origin = find_trail_origin(trail)
    records = sessions = None
    try:
        files = open_log(trail.path)
        records = files.state.head.size if files.state else None
        sessions = _count_sessions(files)
        proof = _describe_proof(files)
    except (AuditError, OSError) as error:
        proof = f"cannot be read: {error}"
    return Row(
        id=trail.path.name,
        path=str(trail.path),
        updated=datetime.fromtimestamp(trail.updated, UTC).isoformat(timespec="seconds"),
        folder=origin.folder if origin else "",
        bundle=origin.bundle if origin else "",
        records=records,
        sessions=sessions,
        proof=proof,
        self_test=is_self_test(trail.path),
    )


def _count_sessions(files: LogFiles) -> int | None:
    """The session and its sub-agents; None for a trail that would take long to read."""
    if files.size > MOST_BYTES:
        return None
    return len(list_session_ids(files))


def _describe_proof(files: LogFiles) -> str:
    """What there is to verify with, and whether the writer gave up."""
    if files.directory is not None and files.directory.failed.exists():
        return "the writer gave up"
    note = (files.state.checkpoint if files.state else None) or ""
    return "signed" if "\n\n" in note.strip() else "not signed"


def _print_rows(rows: list[Row], more: int, where: str) -> None:
    from amplifier_hooks.agent.session.inspection.trails import shorten_trails
    from amplifier_hooks.cli.text.output import print_line, print_wrapped
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.escape import escape

    if not rows:
        print_line(f"No trails {escape(where)} yet.")
        return
    head = ("trail", "when", "records", "sessions", "bundle", "proof", "folder")
    titles: list[Cell] = [(("title", name),) for name in head]
    shorts = shorten_trails(Path(row.path) for row in rows)
    table: list[list[Cell]] = [titles, *(_make_cells(row, shorts[Path(row.path)]) for row in rows)]
    count = Column(align="right")
    text = Column()
    folder = Column("dim", overflow="cut start")
    print_table(table, Column("tool"), Column("dim"), count, count, text, text, folder)
    if more:
        print_line(("dim", f"{more} more; --limit 0 shows all"))
    print_wrapped(0, ("dim", "amplifier audit verify ID says what a trail proves"))


def _make_cells(row: Row, short: str) -> list[Cell]:
    from amplifier_hooks.cli.text.output import format_age, shorten_folder
    from amplifier_hooks.text.escape import escape

    counts = ["?" if one is None else f"{one:,}" for one in (row.records, row.sessions)]
    name = "self-test" if row.self_test else row.bundle or "?"
    folder = shorten_folder(row.folder) if row.folder else "?"
    texts = (name, row.proof, folder)
    return [escape(short), format_age(row.updated), *counts, *map(escape, texts)]
