"""amplifier audit show and tail: the records of a log, as they stand or as they come.

What is shown is escaped as in the file itself: printable ASCII, whatever a hook or a model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_apps.cli.commands.audit.options import (
    AS_JSON,
    LOG_OR_NEWEST,
    add_filters,
    report_errors,
)

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Record

SUMMARY_LENGTH = 160

_WIDTHS = {
    "seq": 6,
    "time": 30,
    "type": 20,
    "session": 10,
    "event": 14,
    "hook": 18,
    "what": 0,
}
_DECISIVE = ("action", "decision", "reason")


@click.command()
@LOG_OR_NEWEST
@add_filters
@click.option("--limit", type=click.IntRange(min=1), help="Only the last so many.")
@click.option("--reveal", is_flag=True, help="Put values from the side store in their places.")
@AS_JSON
@report_errors
def show(log: Path, limit: int | None, reveal: bool, as_json: bool, **wanted: str | None) -> None:
    """Show records as a table, or as JSON lines."""
    from amplifier_audit import read_records
    from amplifier_audit.files.log_files import open_readable
    from amplifier_audit.reader.queries import Filter, select

    files = open_readable(log)
    records: Iterator[Record] = select(read_records(files), Filter(**wanted))
    if limit:
        from collections import deque

        records = iter(deque(records, limit))
    if reveal:
        records = _reveal(records, files)
    if as_json:
        for record in records:
            click.echo(json.dumps(record))
    else:
        _print_table(records)


@click.command()
@LOG_OR_NEWEST
@add_filters
@AS_JSON
@report_errors
def tail(log: Path, as_json: bool, **wanted: str | None) -> None:
    """Follow a log that is being written. Ends with Ctrl-C."""
    from amplifier_audit.reader.queries import Filter, select
    from amplifier_audit.reader.records import follow

    try:
        for record in select(follow(log), Filter(**wanted)):
            click.echo(
                json.dumps(record) if as_json else "  ".join(filter(None, _list_cells(record)))
            )
    except KeyboardInterrupt:
        click.echo("", err=True)


def _reveal(records: Iterator[Record], files: LogFiles) -> Iterator[Record]:
    from amplifier_audit.reader.values import reveal

    return reveal(records, files.directory.values if files.directory else None)


def _print_table(records: Iterator[Record]) -> None:
    from itertools import chain

    from amplifier_apps.cli.text.table import Column, Table

    table = Table(tuple(Column(width=width) for width in _WIDTHS.values()))
    table.print(chain([list(_WIDTHS)], map(_list_cells, records)))


def _format_line(record: Record) -> str:
    return "  ".join(cell for cell in _list_cells(record) if cell)


def _list_cells(record: Record) -> list[str]:
    from amplifier_audit.reader.report_text import escape_text

    *names, _ = _WIDTHS
    known = ["" if record[name] is None else escape_text(record[name]) for name in names]
    return [*known, _summarize(record)]


def _summarize(record: Record) -> str:
    """What a person looks for first: who decided what, and why; else the body, cut to a line."""
    from amplifier_audit.reader.queries import list_answers
    from amplifier_audit.reader.report_text import escape_text

    body = record["body"]
    decision = [f"{name}={escape_text(body[name])}" for name in _DECISIVE if name in body]
    answers = [
        f"{escape_text(one.get('hook'))}:{escape_text(one.get('action'))}"
        for one in list_answers(record)
        if record["type"] == "dispatch" and one.get("action") != "continue"
    ]
    text = " ".join([*decision, *answers]) or escape_text(body)
    return text if len(text) <= SUMMARY_LENGTH else f"{text[: SUMMARY_LENGTH - 3]}..."
