"""Launches the worker of a replay behind a wall, and reads what it found."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_hooks.insight.replay.process.job import Job, ReplayFailed
from amplifier_hooks.insight.replay.recording import CannotReplay
from amplifier_hooks.insight.replay.replay import Replay
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.protection import examine_machine
from amplifier_hooks.sandbox.wall import Wall

_LONGEST = 24 * 3600.0
_MOST = 50_000_000
"""Bytes that a worker may tell."""


async def launch_replay(job: Job) -> Replay:
    """Have a worker do a job; CannotReplay or ReplayFailed if it cannot."""
    with tempfile.TemporaryDirectory(prefix="amplifier-replay-") as name:
        scratch, temporary = _make_folders(Path(name))
        return await _run(replace(job, scratch=str(scratch)), temporary)


def _make_folders(parent: Path) -> tuple[Path, Path]:
    """Where hooks of ours may keep files, and where anybody may."""
    scratch, temporary = parent.resolve() / "scratch", parent.resolve() / "tmp"
    scratch.mkdir()
    temporary.mkdir()
    return scratch, temporary


async def _run(job: Job, temporary: Path) -> Replay:
    found = examine_machine()
    wall = found.kind and Wall(
        (Path(job.scratch),), (), (), temporary, network="deny", kind=found.kind
    )
    outcome = await run_command(
        [sys.executable, "-P", "-m", "amplifier_hooks.insight.replay.process"],
        cwd=Path(job.folder),
        timeout=_LONGEST,
        stdin=json.dumps(job.to_dict()),
        env=dict(os.environ),
        output_limit=_MOST,
        wall=wall or None,
        contained=True,
    )
    told = _read_told(outcome.stdout)
    if "cannot" in told:
        raise CannotReplay(told["cannot"])
    if "found" in told:
        return replace(Replay.from_dict(told["found"]), walled=bool(found.kind))
    last = outcome.stderr.strip().splitlines() or [f"exit code {outcome.returncode}"]
    raise ReplayFailed(f"The session cannot be replayed: {told.get('failed') or last[-1]}")


def _read_told(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {}
    return told if isinstance(told, dict) else {}
