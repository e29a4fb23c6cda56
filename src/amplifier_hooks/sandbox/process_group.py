"""Ending a command with everything that it started.

A command leads a process group of its own, so that one signal reaches its children. A child can
leave the group (`setsid`), but it keeps the mark in its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

GRACE = 2.0  # seconds between TERM and KILL
MARK = "AMPLIFIER_COMMAND_ID"  # in the environment of every process we start
_POLLING = 0.02
_ROUNDS = 5


def create_mark() -> str:
    """A text that no other environment contains."""
    return uuid.uuid4().hex


def add_mark(env: Mapping[str, str] | None, mark: str) -> dict[str, str]:
    """Add the mark to an environment, or to a copy of ours."""
    # The outer marks stay, so that ending an agent also ends what its own commands started.
    marks = f"{os.environ.get(MARK, '')}/{mark}"
    return {**(os.environ if env is None else env), MARK: marks}


async def terminate_group(group: int) -> None:
    """Ask a group to end, and give it a moment to do so."""
    if signal_group(group, signal.SIGTERM):
        await _wait_until_gone(group, GRACE)


def signal_group(group: int, number: int) -> bool:
    """Signal a group; returns whether there was one."""
    try:
        os.killpg(group, number)
    # macOS answers PermissionError for a group of which only zombies are left.
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_marked(mark: str) -> None:
    """KILL what left the group but inherited the mark; without /proc it finds nothing."""
    for _ in range(_ROUNDS):  # a process may fork while we look
        found = [pid for pid in _list_processes() if _has_mark(pid, mark)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


async def _wait_until_gone(group: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and _is_running(group):  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(_POLLING)


def _is_running(group: int) -> bool:
    """Whether a member still runs; orphans that wait for init to reap them do not count."""
    if not signal_group(group, 0):  # signal 0 only asks whether somebody is there
        return False
    processes = _list_processes()
    return not processes or any(_is_live_member(pid, group) for pid in processes)


def _is_live_member(pid: int, group: int) -> bool:
    # The program's name stands in parentheses and may hold blanks and parentheses itself.
    try:
        state, _, pgrp = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(pgrp) == group and state not in "ZX"


def _list_processes() -> list[int]:
    try:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
