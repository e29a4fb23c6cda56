"""Hooks that are commands: the payload on stdin, the answer from both streams."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.sandbox.process import run_command


async def run_hook(
    handler: Handler, body: bytes, env: Mapping[str, str], cwd: str, limit: int
) -> Reply:
    """Run the command and wait for it, no longer than the hook's own limit.

    `limit` is how many bytes of each stream are kept.
    """
    written = handler.args if handler.args is not None else handler.command or ""
    outcome = await run_command(
        written if handler.run is None else handler.run,
        cwd=str(Path(cwd) / handler.cwd) if handler.cwd else cwd,
        timeout=handler.timeout,
        stdin=body,
        env={**os.environ, **env, **handler.env},
        output_limit=limit,
    )
    if outcome.timed_out:
        sentence = f"Hook {handler.label!r} ran longer than {handler.timeout:g} s and was ended"
        return Reply(failure=sentence, timed_out=True)
    return Reply(outcome.returncode, outcome.stdout, outcome.stderr)
