"""amplifier audit verify: what a log proves."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from amplifier_apps.cli.commands.audit.options import (
    AS_JSON,
    add_log,
    find_owner,
    report_errors,
)


@click.command()
@add_log
@click.option("--key", help="Public key, as text or as a file.")
@click.option(
    "--anchor", "anchors", multiple=True, help="File with checkpoints that was kept elsewhere."
)
@click.option(
    "--witness",
    "witnesses",
    multiple=True,
    metavar="URL",
    help="Server that keeps checkpoints of the trail; its token is AMPLIFIER_TOKEN.",
)
@click.option("--session", help="The session that the trail must belong to.")
@click.option("--complete", is_flag=True, help="Exit code 3 instead of 0 if the end is not proven.")
@click.option("--since", help="Continue from a position that --save wrote.")
@click.option("--save", help="Write the verified position to this file.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Segments to verify at a time; by default one for each core, and 1 for a small log.",
)
@AS_JSON
@report_errors
def verify(
    log: Path,
    key: str | None,
    anchors: tuple[str, ...],
    witnesses: tuple[str, ...],
    session: str | None,
    complete: bool,
    since: str | None,
    save: str | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Check every record and say exactly what it proves.

    Exit code 0: proven to an anchor; 3: consistent, end not proven; 4: recovered; 5: tampered.
    """
    from amplifier_apps.cli.commands.audit.progress import show_progress
    from amplifier_audit import load_verifier
    from amplifier_audit.files.log_files import open_remains
    from amplifier_audit.format.log_name import name_log
    from amplifier_audit.reader.anchor_files import read_anchors
    from amplifier_audit.reader.bulk.side_by_side import choose_jobs
    from amplifier_audit.reader.position import load_position, save_position
    from amplifier_audit.reader.report import find_exit_code
    from amplifier_audit.reader.report_text import describe_report, report_to_dict
    from amplifier_audit.reader.verification import LogVerification
    from amplifier_audit.witness.client import Witness
    from amplifier_audit.witness.verifying import read_witnesses

    files = open_remains(log)
    name = name_log(session) if session else find_owner(log)
    token = os.environ.get("AMPLIFIER_TOKEN", "")
    asked = [Witness(url, token) for url in witnesses]
    run = LogVerification(
        files,
        name=name,
        anchors=[*read_anchors(anchors, files, name), *read_witnesses(asked, files, name)],
        key=load_verifier(key) if key else None,
        since=load_position(since) if since else None,
        jobs=choose_jobs(files, jobs),
    )
    with show_progress("Verifying", files.size) as progress:
        run.progress = progress.update
        report = run.run()
    if save and run.end and report.verdict != "tampered":
        save_position(save, run.end)
    told = report_to_dict(report, complete=complete)
    _print(json.dumps(told) if as_json else "\n".join(describe_report(report)))
    click.get_current_context().exit(find_exit_code(report, complete=complete))


def _print(text: str) -> None:
    """Print the verdict; the exit code tells it also to those who do not read to the end."""
    try:
        click.echo(text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
