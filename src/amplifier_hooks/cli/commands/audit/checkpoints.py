"""amplifier audit create-key, checkpoint, prove and redact: keys, proofs, and deleting a value."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli.commands.audit.options import LOG, add_log, report_errors

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Note


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
