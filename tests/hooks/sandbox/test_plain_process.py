"""How a command ended, in words."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time

import pytest

from amplifier_hooks.machine.pipes import Pipes
from amplifier_hooks.sandbox import plain_process
from amplifier_hooks.sandbox.plain_process import (
    MARK,
    PlainRun,
    add_mark,
    create_mark,
    explain_failure,
    kill_marked,
    make_outcome,
    refuse,
    signal_group,
    terminate_group,
)
from tests.support.processes import is_running


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


def test_a_mark_is_added_to_ours_or_to_the_given_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Marks of outer commands come first, so that ending those ends this one too."""
    monkeypatch.setenv(MARK, "/outer")
    monkeypatch.setenv("SOMETHING", "else")
    assert add_mark({"ONLY": "this"}, "x") == {"ONLY": "this", MARK: "/outer/x"}
    assert add_mark(None, "x")["SOMETHING"] == "else"
    assert create_mark() != create_mark()


def test_an_empty_group_cannot_be_signalled() -> None:
    """A group that has ended is not an error."""
    ended = subprocess.Popen(["true"], start_new_session=True)
    ended.wait()
    assert not signal_group(ended.pid, 0)


async def test_a_group_that_obeys_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait ends when the group does."""
    monkeypatch.setattr(plain_process, "GRACE", 50.0)
    process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    started = time.monotonic()
    await terminate_group(process.pid)
    assert time.monotonic() - started < 40
    assert await process.wait() == -signal.SIGTERM


async def test_a_group_that_does_not_obey_is_waited_for_as_long_as_the_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killing it is up to the caller."""
    monkeypatch.setattr(plain_process, "GRACE", 0.1)
    script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", script, start_new_session=True, stdout=asyncio.subprocess.PIPE
    )
    await process.stdout.readline()
    await terminate_group(process.pid)
    assert process.returncode is None
    assert signal_group(process.pid, signal.SIGKILL)
    assert await process.wait() == -signal.SIGKILL


async def test_what_has_the_mark_is_killed_and_nothing_else() -> None:
    """A process cannot escape by leaving its group or session."""
    mark = create_mark()
    marked = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        "echo ready; exec sleep 60",
        env=add_mark(None, mark),
        start_new_session=True,
        stdout=asyncio.subprocess.PIPE,
    )
    other = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    assert await marked.stdout.readline() == b"ready\n"
    kill_marked(mark)
    assert await asyncio.wait_for(marked.wait(), 5) == -signal.SIGKILL
    assert other.returncode is None
    os.kill(other.pid, signal.SIGKILL)
    await other.wait()


def test_without_proc_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other systems have no such directory; the group is still ended."""
    monkeypatch.setattr(plain_process, "_list_processes", list)
    kill_marked("x")
    ended = subprocess.Popen(["sleep", "60"], start_new_session=True)
    assert plain_process._is_running(ended.pid)
    ended.kill()
    ended.wait()
    assert not plain_process._is_running(ended.pid)


async def test_what_left_the_group_stays_after_an_orderly_end(tmp_path) -> None:
    """A notification may start a daemon; nothing that the agent wrote runs this way."""
    marker = tmp_path / "pid"
    inner = f"setsid bash -c 'echo $$ > {marker}; exec sleep 60' > /dev/null 2>&1 &"
    script = f"{inner} while ! [ -s {marker} ]; do sleep 0.01; done"
    outcome = await PlainRun(["bash", "-c", script], None, None, 100).run(None, 30)
    assert outcome.returncode == 0
    assert is_running(marker)
    os.kill(int(marker.read_text()), signal.SIGKILL)
