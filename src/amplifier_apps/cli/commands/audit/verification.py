"""amplifier audit verify: what a log proves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from amplifier_apps.cli.commands.audit.options import AS_JSON, LOG_OR_NEWEST, report_errors


@click.command()
@LOG_OR_NEWEST
@click.option("--key", help="Public key: its text, or a file that holds it.")
@click.option("--anchor", "anchors", multiple=True, help="File with checkpoints kept elsewhere.")
@click.option("--since", help="Go on from a position that --save wrote.")
@click.option("--save", help="Write the verified position to this file.")
@AS_JSON
@report_errors
def verify(
    log: Path,
    key: str | None,
    anchors: tuple[str, ...],
    since: str | None,
    save: str | None,
    as_json: bool,
) -> None:
    """Check every record and say exactly what that proves.

    Exit code 0: proven to an anchor; 3: consistent, end not proven; 4: recovered; 5: tampered.
    """
    from amplifier_audit import load_verifier, open_log
    from amplifier_audit.reader.anchor_files import read_anchors
    from amplifier_audit.reader.position import load_position, save_position
    from amplifier_audit.reader.report import EXIT_CODES
    from amplifier_audit.reader.report_text import describe_report, report_to_dict
    from amplifier_audit.reader.verification import LogVerification

    files = open_log(log)
    run = LogVerification(
        files,
        anchors=read_anchors(anchors, files),
        key=load_verifier(key) if key else None,
        since=load_position(since) if since else None,
    )
    with _show_progress(files.size) as run.progress:
        report = run.run()
    if save and run.end and report.verdict != "tampered":
        save_position(save, run.end)
    click.echo(
        json.dumps(report_to_dict(report)) if as_json else "\n".join(describe_report(report))
    )
    click.get_current_context().exit(EXIT_CODES[report.verdict])


@contextmanager
def _show_progress(total: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Verifying", total=total)
        yield lambda done: bar.update(task, completed=done)
