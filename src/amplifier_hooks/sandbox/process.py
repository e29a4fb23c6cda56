"""Run a command and leave nothing of it behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from amplifier_hooks.machine.pipes import OnOutput
from amplifier_hooks.sandbox.client import LauncherUnavailable
from amplifier_hooks.sandbox.process_cell import CellRun
from amplifier_hooks.sandbox.process_outcome import CommandOutcome, refuse
from amplifier_hooks.sandbox.process_plain import PlainRun
from amplifier_hooks.sandbox.sealing import keep_sealed
from amplifier_hooks.sandbox.seatbelt import build_seatbelt_arguments
from amplifier_hooks.sandbox.wall import Wall

__all__ = ["CommandOutcome", "run_command"]


async def run_command(
    command: str | Sequence[str],
    *,
    cwd: str | Path | None = None,
    timeout: float = 60,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    output_limit: int = 100_000,
    wall: Wall | None = None,
    contained: bool = False,
    on_output: OnOutput | None = None,
) -> CommandOutcome:
    """Run a command: a string in bash, a sequence directly.

    `env` replaces the whole environment, as in `subprocess`. Without `stdin` the command reads an
    empty one. Of each stream at most `output_limit` bytes are kept, its beginning and its end.
    A command that cannot start is an outcome with code 127 (not found) or 126 and the reason in
    `stderr`. When the command ends, the rest of its process group ends with it; behind a wall, or
    `contained` on Linux, so does every descendant, whatever group or session it is in. `on_output`
    is told of the output as it comes, all of it.
    """
    if not timeout > 0:  # also refuses NaN, which `timeout <= 0` would not
        raise ValueError(f"timeout must be positive, not {timeout!r}")
    if not command and not isinstance(command, str):
        raise ValueError("command is an empty sequence; its first item names the program")
    argv = ["bash", "-c", command] if isinstance(command, str) else list(command)
    started = time.monotonic()
    if wall is not None and wall.kind == "seatbelt":
        return await _run_in_seatbelt(argv, cwd, env, output_limit, wall, stdin, timeout, on_output)
    if wall is not None or (contained and sys.platform == "linux"):
        try:
            return await CellRun(argv, cwd, env, output_limit, wall, on_output).run(stdin, timeout)
        except LauncherUnavailable as failure:
            if wall is not None:
                return refuse(f"The command was not run: {failure}", started)
    return await PlainRun(argv, cwd, env, output_limit, on_output).run(stdin, timeout)


async def _run_in_seatbelt(
    argv: list[str],
    cwd: str | Path | None,
    env: Mapping[str, str] | None,
    limit: int,
    wall: Wall,
    stdin: str | bytes | None,
    timeout: float,
    on_output: OnOutput | None,
) -> CommandOutcome:
    """Untested, as `seatbelt` says."""
    walled = [*build_seatbelt_arguments(wall), *argv]
    own = {**(os.environ if env is None else env), "TMPDIR": str(wall.temporary)}
    with keep_sealed(wall) as notes:
        outcome = await PlainRun(walled, cwd, own, limit, on_output).run(stdin, timeout)
    return replace(outcome, notes=tuple(notes))
