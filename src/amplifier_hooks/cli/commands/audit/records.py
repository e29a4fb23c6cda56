"""amplifier audit show and tail: the records of a log."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli.commands.audit.options import (
    ALL,
    AS_JSON,
    add_filters,
    add_log,
    report_errors,
)

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Record
    from amplifier_hooks.cli.commands.audit.progress import Progress
    from amplifier_hooks.trails.filters import Filter


# The session of a record stands between these two members.
_SESSION = re.compile(rb'"mono":\d+,"session":("(?:[^"\\]|\\.)*"),"turn"')


def make_filter(files: LogFiles, wanted: dict[str, str | None]) -> Filter:
    """The filter; the session may be given by the start of its id."""
    from amplifier_hooks.trails.filters import Filter

    given = wanted.get("session")
    return Filter(**{**wanted, "session": _find_session(files, given) if given else None})


def _find_session(files: LogFiles, given: str) -> str:
    known = list_session_ids(files)
    begun = [one for one in sorted(known) if one.startswith(given)]
    if given in known or not begun:
        return given
    if len(begun) > 1:
        raise click.UsageError(f"Several sessions begin with {given!r}: {', '.join(begun[:5])}")
    return begun[0]


def list_session_ids(files: LogFiles) -> set[str]:
    """The session of a log and its sub-agents."""
    from amplifier_audit.log_directory import read_lines

    lines = (line for path in files.paths for _, line in read_lines(path))
    texts = {found.group(1) for line in lines for found in _SESSION.finditer(line)}
    return {str(json.loads(text)) for text in texts}


Print = Callable[[], object]
"""Prints one line that is worth showing."""

EPILOG = """\b
Examples:
  amplifier audit show
  amplifier audit show 3f2a --action deny
  amplifier audit show --all --hook hooks-command-guard --limit 20
"""


@click.command(epilog=EPILOG)
@add_log
@add_filters
@click.option("--limit", type=click.IntRange(min=1), help="Only the last N lines.")
@click.option("--reveal", is_flag=True, help="Fill in values that are stored separately.")
@ALL
@AS_JSON
@report_errors
def show(
    log: Path,
    limit: int | None,
    reveal: bool,
    everything: bool,
    as_json: bool,
    **wanted: str | None,
) -> None:
    """Show what happened: prompts, tool calls, answers of hooks, decisions, results."""
    from amplifier_audit import read_records
    from amplifier_audit.log_directory import open_readable
    from amplifier_hooks.cli.commands.audit.progress import count_records, show_progress, watch

    files = open_readable(log)
    printer = _Printer(make_filter(files, wanted), everything=everything, as_json=as_json)
    with show_progress("Reading", count_records(files)) as progress:
        records: Iterator[Record] = watch(read_records(files), progress)
        lines = printer.select(_reveal(records, files) if reveal else records)
        _print_lines(iter(deque(lines, limit)) if limit else lines, progress)
    printer.mention_rest()


def _print_lines(lines: Iterator[Print], progress: Progress) -> None:
    for print_one in lines:
        progress.clear()
        print_one()


@click.command(
    epilog="\b\nExamples:\n  amplifier audit tail\n  amplifier audit tail --action deny\n"
)
@add_log
@add_filters
@ALL
@AS_JSON
@report_errors
def tail(log: Path, everything: bool, as_json: bool, **wanted: str | None) -> None:
    """Follow a log while it is being written; Ctrl-C ends it."""
    from amplifier_audit import open_log, read_records
    from amplifier_audit.reader import follow

    printer = _Printer(make_filter(open_log(log), wanted), everything=everything, as_json=as_json)
    coming = follow(log)
    printer.learn(islice(read_records(open_log(log)), 1))
    try:
        for print_one in printer.select(coming):
            print_one()
    except KeyboardInterrupt:
        click.echo("", err=True)


def _reveal(records: Iterator[Record], files: LogFiles) -> Iterator[Record]:
    from amplifier_audit.value_store import reveal

    return reveal(records, files.directory.values if files.directory else None)


class _Printer:
    """Chooses what is worth a line, and prints it when it is wanted."""

    def __init__(self, wanted: Filter, *, everything: bool, as_json: bool) -> None:
        from amplifier_hooks.cli.commands.audit.page import Page
        from amplifier_hooks.cli.commands.audit.story import Story

        self._wanted = wanted
        self._everything = everything
        self._as_json = as_json
        self._story = Story()
        self._page = Page()
        self._matching = 0
        self._worth_a_line = 0

    def learn(self, records: Iterable[Record]) -> None:
        """Take records that are not shown."""
        for record in records:
            self._story.tell(record)

    def select(self, records: Iterable[Record]) -> Iterator[Print]:
        """What prints each line, in order. A story needs every record, also those not shown."""
        for record in records:
            lines = list(self._list_lines(record))
            if self._wanted.matches(record):
                self._matching += 1
                self._worth_a_line += len(lines)
                yield from lines

    def _list_lines(self, record: Record) -> Iterator[Print]:
        if self._as_json:
            yield lambda: click.echo(json.dumps(record))
            return
        entries = self._story.tell(record)
        if self._everything:
            yield lambda: self._page.print_record(record, self._story.name_agent(record))
            return
        for entry in entries:
            yield lambda entry=entry: self._page.print_entry(entry)  # type: ignore[misc]

    def mention_rest(self) -> None:
        """Say where the rest is, to a person who would otherwise see nothing."""
        if not self._worth_a_line:
            count = f"{self._matching:,} record{'s' * (self._matching != 1)}"
            more = ", none of them shown here; --all shows them" if self._matching else ""
            click.echo(f"{count} to show{more}.", err=True)
