"""Ending a command with everything that it started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time

import pytest

from amplifier_hooks.sandbox import process_group
from amplifier_hooks.sandbox.process_group import (
    MARK,
    add_mark,
    create_mark,
    kill_marked,
    signal_group,
    terminate_group,
)


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
    monkeypatch.setattr(process_group, "GRACE", 50.0)
    process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
    started = time.monotonic()
    await terminate_group(process.pid)
    assert time.monotonic() - started < 40
    assert await process.wait() == -signal.SIGTERM


async def test_a_group_that_does_not_obey_is_waited_for_as_long_as_the_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killing it is up to the caller."""
    monkeypatch.setattr(process_group, "GRACE", 0.1)
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
    monkeypatch.setattr(process_group, "_list_processes", list)
    kill_marked("x")
    ended = subprocess.Popen(["sleep", "60"], start_new_session=True)
    assert process_group._is_running(ended.pid)
    ended.kill()
    ended.wait()
    assert not process_group._is_running(ended.pid)
