"""amplifier audit: verify, read and redact the audit trail.

Exit codes of `verify`: 0 proven to an anchor, 3 consistent but the end is not proven, 4 recovered
after a crash, 5 tampered with. 2: the command or the log cannot be read.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_audit.streams import announce
from amplifier_hooks.cli.commands.audit.options import (
    AS_JSON,
    LOG,
    add_evidence,
    add_log,
    find_owner,
    report_errors,
)
from amplifier_hooks.cli.commands.audit.records import list_command, show, stats, tail

if TYPE_CHECKING:
    from amplifier_audit import AuditServer, LogFiles, Note


@click.command("create-key")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", default="amplifier-audit", show_default=True, help="Name of the key.")
@report_errors
def create_key(path: Path, name: str) -> None:
    """Make a private key for signing checkpoints and print the public one."""
    from amplifier_audit import create_key

    click.echo(create_key(path, name).public)


@click.command()
@LOG
@click.argument("sequence", type=click.IntRange(min=0))
@click.option("--checkpoint", "checkpoint_file", help="Use this checkpoint instead of the newest.")
@report_errors
def prove(log: Path, sequence: int, checkpoint_file: str | None) -> None:
    """Print a proof, as JSON, that a record belongs to the log of a checkpoint."""
    from amplifier_audit import AuditError, open_log, read_checkpoints
    from amplifier_audit.merkle import compute_inclusion_root, hash_leaf
    from amplifier_audit.reader import prove_inclusion

    files = open_log(log)
    note = read_checkpoints(checkpoint_file)[-1] if checkpoint_file else _find_newest(files)
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


@click.command()
@add_log
@report_errors
def checkpoint(log: Path) -> None:
    """Print the newest checkpoint, so that you can keep it elsewhere."""
    from amplifier_audit import open_log

    click.echo(_find_newest(open_log(log)).text, nl=False)


def _find_newest(files: LogFiles) -> Note:
    from amplifier_audit import AuditError
    from amplifier_audit.reader import find_newest_checkpoint

    note = find_newest_checkpoint(files)
    if note is None:
        raise AuditError(f"{files.paths[0].parent} holds no checkpoint")
    return note


_DASHED = re.compile(r"-[\w-]{42}", re.ASCII)


class RedactCommand(click.Command):
    """A command that does not take a commitment for options: one in 64 begins with a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        dashed = [word for word in args if _DASHED.fullmatch(word)]
        if dashed and "--" not in args:
            args = [*(word for word in args if word not in dashed), "--", *dashed]
        return super().parse_args(ctx, args)


@click.command(cls=RedactCommand)
@LOG
@click.argument("commitment")
@click.option("--by", required=True, help="Who redacts.")
@click.option("--reason", required=True, help="Why.")
@click.option("--key-file", help="Private key, if the log is signed.")
@report_errors
def redact(log: Path, commitment: str, by: str, reason: str, key_file: str | None) -> None:
    """Delete the value behind a commitment; the trail records who did it and why."""
    import asyncio

    from amplifier_audit import open_log
    from amplifier_hooks.cli.person import refuse_agents

    refuse_agents()
    open_log(log)
    sequence = asyncio.run(_redact(log, commitment, by, reason, key_file))
    click.echo(f"Redacted; record {sequence} says so.")


async def _redact(log: Path, commitment: str, by: str, reason: str, key_file: str | None) -> int:
    from amplifier_audit import AuditLog, load_signer

    trail = await AuditLog.open(log, signer=load_signer(key_file) if key_file else None)
    try:
        return await trail.redact(commitment, by=by, reason=reason)
    finally:
        await trail.close()


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
    from amplifier_hooks.cli.commands.audit.options import show_progress

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


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--socket", required=True, type=click.Path(path_type=Path), help="Where to listen.")
@click.option(
    "--user", "users", multiple=True, required=True, help="A user whose sessions may write here."
)
@click.option("--key", type=click.Path(path_type=Path), help="Private key that signs all trails.")
@click.option("--anchor", "anchors", multiple=True, help="File that keeps all checkpoints.")
@click.option(
    "--commitments", is_flag=True, help="Store contents separately, to be redacted later."
)
@report_errors
def serve(
    folder: Path,
    socket: Path,
    users: tuple[str, ...],
    key: Path | None,
    anchors: tuple[str, ...],
    commitments: bool,
) -> None:
    """Write the trails of other users below FOLDER, until interrupted.

    Run it as a user that agents cannot become. In a bundle, `audit: {socket: PATH}` uses it.
    """
    import asyncio
    import os

    from amplifier_audit import AuditServer, AuditSettings, anchor_to_file, load_signer
    from amplifier_audit.messages import find_user

    allowed = frozenset(map(find_user, users))
    if os.geteuid() in allowed:
        click.echo(
            "Warning: this writer serves its own user; whatever that user runs can change the "
            "files. Run it as another user.",
            err=True,
        )
    server = AuditServer(
        folder,
        allowed,
        AuditSettings(values="committed" if commitments else "inline"),
        signer=load_signer(key) if key else None,
        anchors=tuple(anchor_to_file(path) for path in anchors),
        watch=(key,) if key else (),
    )
    asyncio.run(_run(server, socket))


async def _run(server: AuditServer, socket: Path) -> None:
    import asyncio
    import signal

    started = asyncio.Event()
    running = asyncio.create_task(server.run(socket, started=started))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    waiting = asyncio.create_task(started.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if started.is_set():
        announce(f"Listening on {socket}")
    try:
        await running
    except asyncio.CancelledError:
        announce("All trails are closed.")


EPILOG = """\b
Examples:
  amplifier audit list
  amplifier audit show
  amplifier audit show 3f2a --action deny
  amplifier audit verify "fix the parser"
"""


@click.group(epilog=EPILOG)
def audit() -> None:
    """Read, verify and redact the audit trail.

    LOG is the directory of a log, the beginning of a session's id, or a session's name. If it is
    omitted, the newest trail of this folder's bundle is used.
    """


for _command in (
    list_command,
    show,
    verify,
    tail,
    stats,
    redact,
    prove,
    checkpoint,
    create_key,
    serve,
):
    audit.add_command(_command)
