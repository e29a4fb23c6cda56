"""amplifier audit prove and checkpoint: what an auditor keeps elsewhere, and checks against it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli.commands.audit.options import LOG, add_log, report_errors

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Note


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
