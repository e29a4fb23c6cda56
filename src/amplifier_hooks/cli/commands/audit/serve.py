"""amplifier audit serve: the writer of the trail as a process of its own, under another user."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_audit.streams import announce
from amplifier_hooks.cli.commands.audit.options import report_errors

if TYPE_CHECKING:
    from amplifier_audit import AuditServer


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
