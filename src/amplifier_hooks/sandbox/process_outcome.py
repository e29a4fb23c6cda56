"""How a command ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.machine.pipes import Pipes

_NOT_FOUND = 127  # what a shell says about a program that is not there
_NOT_RUN = 126  # and about one that cannot be run


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command. `returncode` is negative if a signal ended it.

    `notes` are sentences about what the sandbox did to it.
    """

    returncode: int
    stdout: str
    stderr: str
    timed_out: bool
    truncated: bool
    duration_ms: int
    notes: tuple[str, ...] = ()


def make_outcome(
    pipes: Pipes, returncode: int | None, *, timed_out: bool, started: float
) -> CommandOutcome:
    """The outcome of a command that ran, with what it printed."""
    stdout, stderr = pipes.stdout, pipes.stderr
    return CommandOutcome(
        # None: it was killed, and the kernel has not let go of it yet.
        returncode=-signal.SIGKILL if returncode is None else returncode,
        stdout=stdout.read_text(),
        stderr=stderr.read_text(),
        timed_out=timed_out,
        truncated=bool(stdout.omitted or stderr.omitted),
        duration_ms=_count_ms(started),
    )


def explain_failure(
    argv: Sequence[str], cwd: str | Path | None, failure: OSError | ValueError, started: float
) -> CommandOutcome:
    """The outcome of a command that could not start."""
    code, sentence = _explain(argv, cwd, failure)
    return CommandOutcome(code, "", sentence, False, False, _count_ms(started))


def refuse(sentence: str, started: float) -> CommandOutcome:
    """The outcome of a command that was not run, for a reason that is not its own."""
    return CommandOutcome(_NOT_RUN, "", sentence, False, False, _count_ms(started))


def _explain(
    argv: Sequence[str], cwd: str | Path | None, failure: OSError | ValueError
) -> tuple[int, str]:
    if cwd is not None and not Path(cwd).is_dir():
        return _NOT_FOUND, f"Cannot run {' '.join(argv[:1])!r}: {str(cwd)!r} is not a directory"
    if isinstance(failure, FileNotFoundError):
        reason = "no such program; install it or give its full path"
        return _NOT_FOUND, f"Cannot run {argv[0]!r}: {reason}"
    return _NOT_RUN, f"Cannot run {' '.join(argv[:1])!r}: {failure}"


def _count_ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
