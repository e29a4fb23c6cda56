"""How a command ended, in words."""

from __future__ import annotations

import signal
import time

import pytest

from amplifier_hooks.machine.pipes import Pipes
from amplifier_hooks.sandbox.process_outcome import explain_failure, make_outcome, refuse


@pytest.mark.parametrize(
    ("failure", "cwd", "code", "words"),
    [
        (FileNotFoundError(2, "No such file"), None, 127, "no such program"),
        (FileNotFoundError(2, "No such file"), "/no/such/place", 127, "is not a directory"),
        (PermissionError(13, "Permission denied"), None, 126, "Permission denied"),
        (ValueError("embedded null byte"), None, 126, "null byte"),
    ],
)
def test_what_could_not_start_has_the_code_of_a_shell(failure, cwd, code, words) -> None:
    """And a sentence in place of its errors."""
    outcome = explain_failure(["prog"], cwd, failure, time.monotonic())
    assert outcome.returncode == code
    assert words in outcome.stderr


def test_what_was_refused_says_why() -> None:
    """It did not run, so it has no output."""
    outcome = refuse("The command was not run: no launcher", time.monotonic())
    assert (outcome.returncode, outcome.stdout, outcome.timed_out) == (126, "", False)
    assert "no launcher" in outcome.stderr


async def test_a_process_that_nobody_saw_end_counts_as_killed() -> None:
    """The kernel has not let go of it yet."""
    outcome = make_outcome(Pipes(10), None, timed_out=True, started=time.monotonic())
    assert outcome.returncode == -signal.SIGKILL
    assert outcome.notes == ()
