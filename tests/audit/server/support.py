"""A writer behind a socket, for tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from amplifier_audit.remote_log import RemoteLog
from amplifier_audit.server import AuditServer
from amplifier_audit.settings import AuditSettings
from tests.audit.support import FAST, SIGNER

QUICK = AuditSettings(sync_timeout=5.0)
ME = os.geteuid()


@asynccontextmanager
async def run_server(root: Path, **options: Any) -> AsyncIterator[Path]:
    """A running server; the path of its socket."""
    given = {"users": [ME], "settings": FAST, "signer": SIGNER, **options}
    server = AuditServer(root / "trails", **given)
    started = asyncio.Event()
    root.chmod(0o755)
    running = asyncio.create_task(server.run(root / "socket", started=started))
    waiting = asyncio.create_task(started.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if running.done():
        await running
    try:
        yield root / "socket"
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def connect(socket: Path, session: str = "ann", **options: Any) -> RemoteLog:
    """A client that accepts a server of its own user, as there is only one in most tests."""
    return await RemoteLog.open(socket, session, QUICK, **{"server_user": ME, **options})


def find_log(root: Path, session: str = "ann") -> Path:
    return root / "trails" / str(ME) / session
