"""amplifier audit list, show, tail and stats: the trails there are, and what is in them."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_audit.log_directory import parse_or_none
from amplifier_hooks.cli.commands.audit.options import (
    ALL,
    AS_JSON,
    add_filters,
    add_log,
    report_errors,
)

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Record
    from amplifier_hooks.agent.session.inspection.trails import Trail
    from amplifier_hooks.cli.commands.audit.options import Progress
    from amplifier_hooks.cli.text.table import Cell
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
    from amplifier_audit.log_directory import open_readable
    from amplifier_audit.reader import read_whole_lines
    from amplifier_audit.value_store import open_revealer
    from amplifier_hooks.cli.commands.audit.options import show_progress

    files = open_readable(log)
    values = files.directory.values if reveal and files.directory else None
    printer = _Printer(make_filter(files, wanted), everything=everything, as_json=as_json)
    with show_progress("Reading", files.size) as progress, open_revealer(values) as fill_in:
        needed = filter(printer.needs, read_whole_lines(files, progress.update))
        lines = printer.select(map(fill_in, filter(None, map(parse_or_none, needed))))
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


class _Printer:
    """Chooses what is worth a line, and prints it when it is wanted."""

    def __init__(self, wanted: Filter, *, everything: bool, as_json: bool) -> None:
        from amplifier_hooks.cli.commands.audit.story import Page, Story
        from amplifier_hooks.trails.quiet import match_quiet

        self._match_quiet = match_quiet
        self._wanted = wanted
        self._wants_all = wanted == type(wanted)()
        # What no line has to name, or may spell in several ways, is looked for in no line.
        action = wanted.action or ""
        self._word = (
            action.encode()
            if action != "continue" and action.isascii() and action.isidentifier()
            else b""
        )
        self._everything = everything
        self._as_json = as_json
        self._story = Story()
        self._page = Page()
        self._matching = 0
        self._worth_a_line = 0

    def learn(self, records: Iterable[Record]) -> None:
        """Take records that are not shown."""
        for record in records:
            self._story.describe(record)

    def select(self, records: Iterable[Record]) -> Iterator[Print]:
        """What prints each line, in order. A story needs every record, also those not shown."""
        for record in records:
            if self._wanted.matches(record):
                lines = list(self._list_lines(record))
                self._matching += 1
                self._worth_a_line += len(lines)
                yield from lines
            elif not self._as_json:
                self._story.pass_over(record)

    def needs(self, line: bytes) -> bool:
        """Whether a line has to be read: it may match, or matter to the lines of those that do."""
        quiet = None if self._wants_all else self._match_quiet(line, ())
        if quiet is None:
            return self._word in line or b"\\u00" in line or self._needs_loud(line)
        if self._wanted.matches_quiet(quiet):
            return True
        return not (self._as_json or self._story.pass_over_quiet(quiet, line))

    def _needs_loud(self, line: bytes) -> bool:
        """The same of one that is not quiet, and in which the wanted action does not occur."""
        if b"$commitment" in line:
            return True
        if not self._as_json and (record := parse_or_none(line)) is not None:
            self._story.pass_over(record)
        return False

    def _list_lines(self, record: Record) -> Iterator[Print]:
        if self._as_json:
            yield lambda: click.echo(json.dumps(record))
            return
        entries = self._story.describe(record)
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


LIST_EXAMPLES = """\b
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


@click.command("list", epilog=LIST_EXAMPLES)
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
    from amplifier_hooks.cli.commands.audit.options import report_unused_path

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
    from amplifier_audit.log_directory import open_readable
    from amplifier_hooks.cli.commands.audit.options import show_progress
    from amplifier_hooks.trails.reading import read_entries, read_matching
    from amplifier_hooks.trails.recount import recount

    files = open_readable(log)
    with show_progress("Counting", files.size) as progress:
        entries = read_entries(files, (), progress.update)
        found = recount(read_matching(entries, make_filter(files, wanted)))
    hook = wanted.get("hook")
    return [
        {"hook": name, **one.summarize()}
        for name, one in sorted(found.items())
        if one.is_used and hook in (None, name)
    ]


def _print_table(rows: list[dict[str, Any]]) -> None:
    from amplifier_audit.report import escape_text
    from amplifier_hooks.cli.text.table import Column, print_table

    head: list[Cell] = [(("title", name),) for name in _COLUMNS]
    cells = [
        [format_ms(one) if name.endswith("_ms") else escape_text(one) for name, one in row.items()]
        for row in rows
    ]
    numbers = [Column(align="right")] * (len(_COLUMNS) - 1)
    print_table([head, *cells], Column(overflow="cut end"), *numbers)


def format_ms(value: float | None) -> str:
    """A time in milliseconds: two digits, or all before the point."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
