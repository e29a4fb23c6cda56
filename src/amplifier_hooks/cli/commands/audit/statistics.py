"""amplifier audit stats: what each hook did, counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from amplifier_hooks.cli.commands.audit.options import (
    AS_JSON,
    add_filters,
    add_log,
    report_errors,
)
from amplifier_hooks.cli.commands.audit.records import make_filter

_COLUMNS = ("hook", "calls", "denied", "asked", "injected", "failed", "p50 ms", "p95 ms", "p99 ms")


@click.command()
@add_log
@add_filters
@AS_JSON
@report_errors
def stats(log: Path, as_json: bool, **wanted: str | None) -> None:
    """What each hook did: calls, denials, questions, injections, failures and time.

    The figures are those of `amplifier hooks stats`, of one trail and of the records that match.
    """
    rows = _count(log, wanted)
    if as_json:
        click.echo(json.dumps(rows))
    else:
        _print_table(rows)


def _count(log: Path, wanted: dict[str, str | None]) -> list[dict[str, Any]]:
    from amplifier_audit import read_records
    from amplifier_audit.log_directory import open_readable
    from amplifier_hooks.cli.commands.audit.progress import count_records, show_progress, watch
    from amplifier_hooks.trails.reading import read_matching
    from amplifier_hooks.trails.recount import recount

    files = open_readable(log)
    with show_progress("Counting", count_records(files)) as progress:
        records = watch(read_records(files), progress)
        found = recount(read_matching(records, make_filter(files, wanted)))
    hook = wanted.get("hook")
    return [
        {"hook": name, **one.summarize()}
        for name, one in sorted(found.items())
        if one.is_used and hook in (None, name)
    ]


def _print_table(rows: list[dict[str, Any]]) -> None:
    from amplifier_audit.report import escape_text
    from amplifier_hooks.cli.text.table import Cell, Column, print_table

    head: list[Cell] = [(("title", name),) for name in _COLUMNS]
    cells = [
        [format_ms(one) if name.endswith("_ms") else escape_text(one) for name, one in row.items()]
        for row in rows
    ]
    numbers = [Column(align="right")] * (len(_COLUMNS) - 1)
    print_table([head, *cells], Column(overflow="cut end"), *numbers)


def format_ms(value: float | None) -> str:
    """A time in milliseconds: two digits, or all before the point."""
    return "-" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
