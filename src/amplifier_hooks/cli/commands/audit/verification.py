"""amplifier audit verify: what a log proves."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import click

from amplifier_hooks.cli.commands.audit.options import (
    AS_JSON,
    add_evidence,
    add_log,
    find_owner,
    report_errors,
)


@click.command()
@add_log
@add_evidence
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

    Without --key, --anchor and --witness, with what the trail's bundle names, if you trust it.

    Exit code 0: proven to an anchor; 3: consistent, end not proven; 4: recovered; 5: tampered.
    """
    from amplifier_audit.log_directory import open_remains
    from amplifier_audit.parallel import choose_jobs
    from amplifier_audit.record import name_log
    from amplifier_audit.report import describe_report, find_exit_code, report_to_dict
    from amplifier_audit.verification import load_position, save_position
    from amplifier_hooks.agent.session.inspection.evidence import (
        Check,
        EvidenceFinder,
        give_evidence,
    )
    from amplifier_hooks.cli.commands.audit.progress import show_progress

    files = open_remains(log)
    given = give_evidence(key, anchors, witnesses)
    run = Check(
        files,
        given or EvidenceFinder().find(log),
        name_log(session) if session else find_owner(log),
        since=load_position(since) if since else None,
        jobs=choose_jobs(files, jobs),
    )
    with show_progress("Verifying", files.size) as progress:
        run.progress = progress.update
        report = run.run()
    if save and run.end and report.verdict != "tampered":
        save_position(save, run.end)
    told = report_to_dict(report, complete=complete)
    with contextlib.suppress(OSError):  # the exit code tells it as well
        click.echo(json.dumps(told) if as_json else "\n".join(describe_report(report)))
    click.get_current_context().exit(find_exit_code(report, complete=complete))
