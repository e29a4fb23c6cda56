"""`amplifier audit`: verify, read and redact the audit trail.

Exit codes of `verify`: 0 proven to an anchor, 3 consistent but the end is not proven, 4 recovered
after a crash, 5 tampered with. 2: the command or the log cannot be read.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Note, Record, Report
    from amplifier_audit.reader.verification import LogVerification

EXIT_CODES = {"proven": 0, "consistent": 3, "recovered": 4, "tampered": 5}
UNREADABLE = 2
COLUMNS = ("seq", "time", "type", "session", "event", "hook", "what")
WIDTHS = (6, 30, 20, 10, 14, 18, 0)
F = TypeVar("F", bound=Callable[..., Any])


def _chosen(_context: click.Context, _parameter: click.Parameter, given: str | None) -> Path:
    """The directory that was named, the trail of the session that was named, or the newest."""
    from amplifier_foundation.session.store import data_home

    if given is not None and Path(given).exists():
        return Path(given)
    home = data_home() / "amplifier" / "audit"
    trails = sorted(home.glob("*/"), key=lambda trail: trail.stat().st_mtime)
    if given is not None:
        return next((one for one in trails if one.name.startswith(given)), Path(given))
    if not trails:
        raise click.UsageError(f"There is no trail in {home} yet; name the directory of a log.")
    click.echo(f"The newest trail: {trails[-1]}", err=True)
    return trails[-1]


LOG = click.argument("log", callback=_chosen)
NEWEST = click.argument("log", required=False, callback=_chosen)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


def plainly(command: F) -> F:
    """Every error of the trail becomes one sentence and exit code 2."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        from amplifier_audit import AuditError

        try:
            return command(*args, **kwargs)
        except AuditError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(UNREADABLE)
        except OSError as error:
            click.echo(f"Error: {error.strerror or error}: {error.filename}", err=True)
            sys.exit(UNREADABLE)

    return wrapped  # type: ignore[return-value]


@click.group()
def audit() -> None:
    """Verify, read and redact the audit trail.

    LOG is the directory of a log or the start of a session's id; where it may be left out, the
    trail of the newest session is meant.
    """


@audit.command()
@NEWEST
@click.option("--key", help="Public key: its text, or a file that holds it.")
@click.option(
    "--anchor", "anchor_files", multiple=True, help="File with checkpoints kept elsewhere."
)
@click.option("--since", help="Go on from a position that --save wrote.")
@click.option("--save", help="Write the verified position to this file.")
@AS_JSON
@plainly
def verify(
    log: Path,
    key: str | None,
    anchor_files: tuple[str, ...],
    since: str | None,
    save: str | None,
    as_json: bool,
) -> None:
    """Check every record and say exactly what that proves.

    Exit code 0: proven to an anchor; 3: consistent, end not proven; 4: recovered; 5: tampered.
    """
    from amplifier_audit import open_log
    from amplifier_audit.reader.position import load_position
    from amplifier_audit.reader.verification import LogVerification

    files = open_log(log)
    run = LogVerification(
        files,
        anchors=_anchors(anchor_files, files),
        key=_key(key),
        since=load_position(since) if since else None,
    )
    with _progress(files.size, "Verifying") as run.progress:
        report = run.run()
    _save(run, report, save)
    click.echo(json.dumps(_as_dict(report)) if as_json else "\n".join(_told(report)))
    sys.exit(EXIT_CODES[report.verdict])


def _moment(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str | None:
    from amplifier_audit import AuditError
    from amplifier_audit.reader.queries import parse_time

    try:
        return None if given is None else parse_time(given)
    except AuditError as error:
        raise click.BadParameter(str(error)) from error


def filters(command: F) -> F:
    """The options that select records."""
    for option in reversed(
        [
            click.option("--session", help="Only this session."),
            click.option("--hook", help="Only records that name this hook."),
            click.option("--event", help="Only this event, such as tool:pre."),
            click.option("--action", help="Only this action, such as deny."),
            click.option("--type", help="Only this type, such as approval_decided."),
            click.option(
                "--after", callback=_moment, help="From this time on, such as 2026-11-15T09:00."
            ),
            click.option("--before", callback=_moment, help="Before this time."),
        ]
    ):
        command = option(command)
    return command


@audit.command()
@NEWEST
@filters
@click.option("--limit", type=click.IntRange(min=1), help="Only the last so many.")
@click.option("--reveal", is_flag=True, help="Put values from the side store in their places.")
@AS_JSON
@plainly
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
        records = _revealed(records, files)
    if as_json:
        for record in records:
            click.echo(json.dumps(record))
        return
    _print_table(records)


@audit.command()
@NEWEST
@filters
@AS_JSON
@plainly
def tail(log: Path, as_json: bool, **wanted: str | None) -> None:
    """Follow a log that is being written. Ends with Ctrl-C."""
    from amplifier_audit.reader.queries import Filter, select
    from amplifier_audit.reader.records import follow

    try:
        for record in select(follow(log), Filter(**wanted)):
            click.echo(json.dumps(record) if as_json else _line(record))
    except KeyboardInterrupt:
        click.echo("", err=True)


@audit.command()
@NEWEST
@filters
@AS_JSON
@plainly
def stats(log: Path, as_json: bool, **wanted: str | None) -> None:
    """What each hook did: calls, denials, asks, injections, errors, p50 and p99 duration."""
    from amplifier_audit import read_records
    from amplifier_audit.files.log_files import open_readable
    from amplifier_audit.reader.queries import Filter, count_answers, select

    found = count_answers(select(read_records(open_readable(log)), Filter(**wanted)))
    rows = [
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
    if as_json:
        click.echo(json.dumps(rows))
        return
    _print_figures(rows)


@audit.command()
@LOG
@click.argument("commitment")
@click.option("--by", required=True, help="Who redacts.")
@click.option("--reason", required=True, help="Why.")
@click.option("--key-file", help="Private key, if the log is signed.")
@plainly
def redact(log: Path, commitment: str, by: str, reason: str, key_file: str | None) -> None:
    """Delete the value behind a commitment; the trail records who did it and why."""
    from amplifier_audit import open_log

    open_log(log)
    sequence = asyncio.run(_redact(log, commitment, by, reason, key_file))
    click.echo(f"Redacted; record {sequence} says so.")


@audit.command()
@LOG
@click.argument("sequence", type=click.IntRange(min=0))
@click.option("--checkpoint", "checkpoint_file", help="Prove against this one, not the newest.")
@plainly
def prove(log: Path, sequence: int, checkpoint_file: str | None) -> None:
    """Print a proof, as JSON, that a record is in the log that a checkpoint speaks of."""
    from amplifier_audit import AuditError, open_log
    from amplifier_audit.format.proof import compute_inclusion_root
    from amplifier_audit.format.tree import hash_leaf
    from amplifier_audit.reader.inclusion import prove_inclusion

    files = open_log(log)
    note = _notes(checkpoint_file)[-1] if checkpoint_file else _newest(files)
    line, hashes = prove_inclusion(files, sequence, note)
    size = note.checkpoint.size
    if compute_inclusion_root(sequence, size, hash_leaf(line), hashes) != note.checkpoint.root:
        raise AuditError(f"The first {size} records of {log} are not those of the checkpoint")
    proof = {
        "record": line.decode("ascii"),
        "sequence": sequence,
        "checkpoint": note.text,
        "hashes": [base64.b64encode(one).decode() for one in hashes],
    }
    click.echo(json.dumps(proof))


@audit.command()
@NEWEST
@plainly
def checkpoint(log: Path) -> None:
    """Print the newest checkpoint, for keeping elsewhere."""
    from amplifier_audit import open_log

    click.echo(_newest(open_log(log)).text, nl=False)


@audit.command("create-key")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", default="amplifier-audit", show_default=True, help="Name of the key.")
@plainly
def create_key_command(path: Path, name: str) -> None:
    """Make a private key for signing checkpoints and print the public one."""
    from amplifier_audit import create_key

    click.echo(create_key(path, name).public)


async def _redact(log: Path, commitment: str, by: str, reason: str, key_file: str | None) -> int:
    from amplifier_audit import AuditLog, load_signer

    trail = await AuditLog.open(log, signer=load_signer(key_file) if key_file else None)
    try:
        return await trail.redact(commitment, by=by, reason=reason)
    finally:
        await trail.close()


def _newest(files: LogFiles) -> Note:
    from amplifier_audit import AuditError
    from amplifier_audit.reader.inclusion import find_newest_checkpoint

    note = find_newest_checkpoint(files)
    if note is None:
        raise AuditError(f"{files.paths[0].parent} holds no checkpoint")
    return note


def _key(source: str | None) -> Any:
    from amplifier_audit import load_verifier

    return load_verifier(source) if source else None


def _anchors(sources: Sequence[str], files: LogFiles) -> list[Note]:
    """A file of anchors may serve several logs; those of this one count, if there are any."""
    from amplifier_audit.files.lines import read_first_record

    notes = [note for source in sources for note in _notes(source)]
    first = read_first_record(files.paths[0]) or {"log": None}
    return [note for note in notes if note.checkpoint.log == first["log"]] or notes


def _notes(source: str) -> list[Note]:
    from amplifier_audit import BadCheckpoint, parse_notes

    try:
        notes = parse_notes(Path(source).read_text("utf-8"))
    except OSError as error:
        raise BadCheckpoint(f"Cannot read {source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadCheckpoint(f"{source} holds no checkpoint: it is not text") from error
    if not notes:
        raise BadCheckpoint(f"{source} holds no checkpoint")
    return notes


def _save(run: LogVerification, report: Report, target: str | None) -> None:
    if target and run.end and report.verdict != "tampered":
        Path(target).write_text(json.dumps(run.end.to_dict()) + "\n", "utf-8")


@contextmanager
def _progress(total: int, what: str) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _as_dict(report: Report) -> dict[str, Any]:
    finding = report.finding
    return {
        "verdict": report.verdict,
        "exit_code": EXIT_CODES[report.verdict],
        "log": report.log,
        "first": report.first,
        "size": report.size,
        "proven_to": report.proven_to,
        "finding": finding
        and {
            "kind": finding.kind,
            "sequence": finding.sequence,
            "segment": finding.segment,
            "byte": finding.byte,
            "message": finding.message,
        },
        "recoveries": report.recoveries,
        "checkpoints": report.checkpoints,
        "signatures_checked": report.signed,
        "last_checkpoint": report.last_checkpoint,
        "notes": report.notes,
    }


def _told(report: Report) -> Iterator[str]:
    yield _headline(report)
    if finding := report.finding:
        place = f" ({finding.segment}, byte {finding.byte})" if finding.segment else ""
        yield f"  {finding.kind} at record {finding.sequence}{place}: {_ascii(finding.message)}"
    yield f"  log {_ascii(report.log or 'unknown')}, {_range(report)} read"
    newest = report.last_checkpoint
    last = "" if newest is None else f", last checkpoint at {newest}"
    yield f"  {report.checkpoints} checkpoints, {report.signed} signatures checked{last}"
    if report.recoveries:
        yield f"  recoveries after a crash at records {', '.join(map(str, report.recoveries))}"
    for note in report.notes:
        yield f"  note: {_ascii(note)}"


def _range(report: Report) -> str:
    first, size = report.first, report.size
    return f"records {first} to {size - 1}" if size > first else f"no records from {first} on"


def _headline(report: Report) -> str:
    proven, rest = report.proven_to, report.size - (report.proven_to or 0)
    tail = f"; the {rest} after it are consistent, their end is not proven" if rest else ""
    known = f"the first {proven} records are proven by an anchor{tail}"
    return {
        "proven": f"PROVEN: {known}",
        "consistent": "CONSISTENT, END NOT PROVEN: what is there hangs together; without an anchor "
        "nobody knows whether something is missing at the end or all of it was replaced",
        "recovered": "RECOVERED: a crash left its mark"
        + (f"; {known}" if proven else "; the end is not proven"),
        "tampered": "TAMPERED: this is not what the writer wrote",
    }[report.verdict]


def _revealed(records: Iterator[Record], files: LogFiles) -> Iterator[Record]:
    from amplifier_audit.reader.values import reveal

    store = files.directory.values if files.directory else None
    return reveal(records, store)


def _print_table(records: Iterator[Record]) -> None:
    """Line by line: a log may be larger than memory."""
    click.echo(_row(COLUMNS))
    for record in records:
        click.echo(_row(_cells(record)))


def _row(cells: Sequence[str]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)]
    return "  ".join(padded).rstrip()


def _print_figures(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in ("hook", "calls", "denials", "asks", "injections", "errors", "p50 ms", "p99 ms"):
        table.add_column(name, justify="left" if name == "hook" else "right")
    for row in rows:
        table.add_row(*(Text(_ascii("-" if v is None else v)) for v in row.values()))
    _console(Console).print(table)


def _console(console: Any) -> Any:
    """Not on a terminal the width is free, so that nothing is folded in a pipe."""
    return console() if sys.stdout.isatty() else console(width=1000, soft_wrap=True)


def _cells(record: Record) -> list[str]:
    named = [_ascii("" if record[name] is None else record[name]) for name in COLUMNS[:-1]]
    return [*named, _summary(record)]


def _line(record: Record) -> str:
    return "  ".join(cell for cell in _cells(record) if cell)


def _summary(record: Record) -> str:
    """What a person looks for first: who decided what, and why; else the body, cut to a line."""
    from amplifier_audit.reader.queries import list_answers

    body = record["body"]
    told = [
        f"{_ascii(one.get('hook'))}:{_ascii(one.get('action'))}"
        for one in list_answers(record)
        if record["type"] == "dispatch" and one.get("action") != "continue"
    ]
    first = [
        f"{name}={_ascii(body[name])}" for name in ("action", "decision", "reason") if name in body
    ]
    text = " ".join([*first, *told]) or _ascii(body)
    return text if len(text) <= 160 else text[:157] + "..."


def _ascii(value: Any) -> str:
    """Printable ASCII whatever a hook or a model wrote: nothing in a log steers the terminal."""
    text = json.dumps(value)
    shown = text[1:-1].replace('\\"', '"') if isinstance(value, str) else text
    return shown.replace("\x7f", "\\u007f")


if __name__ == "__main__":
    audit(prog_name="amplifier audit")
