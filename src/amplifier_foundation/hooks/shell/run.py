"""Running one external hook."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_foundation.hooks.shell.handler import Handler, Reply
from amplifier_foundation.hooks.shell.http import post
from amplifier_foundation.machine.process import run_command


async def ask(
    handler: Handler, payload: Mapping[str, Any], env: Mapping[str, str], cwd: str, limit: int
) -> Reply:
    """Hand over the payload and wait, no longer than the hook's own limit."""
    body = encoded(payload)
    if handler.url is not None:
        return await post(handler, body)
    outcome = await run_command(
        handler.args if handler.args is not None else handler.command or "",
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


def encoded(payload: Mapping[str, Any]) -> bytes:
    """JSON in ASCII: lone surrogates and odd objects must not keep a guard from being asked."""
    return json.dumps(payload, default=str, skipkeys=True).encode() + b"\n"
