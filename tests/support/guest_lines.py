"""Speaking to a resident process byte by byte, as its clients do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from amplifier_hooks.coding_agents.client.client import VERSION, read_answer


async def ask_bytes(folder: Path, sent: bytes) -> bytes:
    """All that comes back for these bytes."""
    reader, writer = await asyncio.open_unix_connection(str(folder / "guest.sock"), limit=2**26)
    writer.write(sent)
    writer.write_eof()
    try:
        return await reader.read()
    finally:
        writer.close()


def write_question(
    payload: Any = None,
    *,
    agent: str = "claude",
    event: str = "PreToolUse",
    seconds: float | str = 50,
    version: str = VERSION,
) -> bytes:
    """A question of the installed client."""
    fields = ("amplifier-guest 1", version, agent, event, str(seconds), "", "/", "")
    body = payload if isinstance(payload, bytes) else json.dumps(payload or {}).encode()
    return "\t".join(fields).encode() + b"\n" + body


async def ask(folder: Path, payload: Any = None, **options: Any) -> tuple[int, bytes, bytes]:
    """The answer to one question: exit code, standard output, standard error."""
    return read_answer(await ask_bytes(folder, write_question(payload, **options)))
