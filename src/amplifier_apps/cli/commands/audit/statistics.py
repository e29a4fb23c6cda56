"""amplifier audit stats: what each hook did, counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from amplifier_apps.cli.commands.audit.options import (
    AS_JSON,
    add_filters,
    add_log,
    report_errors,
)

_HEAD = ("hook", "calls", "denials", "asks", "injections", "errors", "p50 ms", "p99 ms")


@click.command()
@add_log
@add_filters
@AS_JSON
@report_errors
def stats(log: Path, as_json: bool, **wanted: str | None) -> None:
    """What each hook did: calls, denials, asks, injections, errors, p50 and p99 duration."""
    rows = _count(log, wanted)
    if as_json:
        click.echo(json.dumps(rows))
    else:
        _print_table(rows)


def _count(log: Path, wanted: dict[str, str | None]) -> list[dict[str, Any]]:
    from amplifier_apps.cli.commands.audit.progress import count_records, show_progress, watch
    from amplifier_audit import read_records
    from amplifier_audit.files.log_files import open_readable
    from amplifier_audit.reader.queries import Filter, count_answers, select

    files = open_readable(log)
    with show_progress("Counting", count_records(files)) as progress:
        records = watch(read_records(files), progress)
        found = count_answers(select(records, Filter(**wanted)))
    return [
        {
            "hook": name,
            "calls": one.calls,
            "denials": one.denials,
            "asks": one.asks,
            "injections": one.injections,
            "errors": one.errors,
            "p50_ms": one.find_quantile(0.50),
            "p99_ms": one.find_quantile(0.99),
        }
        for name, one in found.items()
    ]


def _print_table(rows: list[dict[str, Any]]) -> None:
    from amplifier_apps.cli.text.table import Cell, Column, print_table
    from amplifier_audit.reader.report_text import escape_text

    head: list[Cell] = [(("title", name),) for name in _HEAD]
    cells = [["-" if one is None else escape_text(one) for one in row.values()] for row in rows]
    numbers = [Column(align="right")] * (len(_HEAD) - 1)
    print_table([head, *cells], Column(overflow="cut end"), *numbers)
