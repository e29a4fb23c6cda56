"""amplifier audit redact: delete a value that the trail holds apart."""

from __future__ import annotations

import re
from pathlib import Path

import click

from amplifier_hooks.cli.commands.audit.options import LOG, report_errors

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
