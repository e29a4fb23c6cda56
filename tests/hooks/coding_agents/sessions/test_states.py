"""What is kept of sessions."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from amplifier_core.errors import SessionStateError
from amplifier_hooks.coding_agents.sessions.states import GuestStates


async def test_a_session_is_found_again(tmp_path: Path) -> None:
    """With its state and with the folder that it began in."""
    states = GuestStates(tmp_path)
    await states.save("claude-1", {"x": 1}, "/project")
    saved = await states.load("claude-1")
    assert saved is not None
    assert (saved.state, saved.info.working_dir) == ({"x": 1}, "/project")
    assert await states.load("claude-2") is None


async def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    """Where the session began decides what governs it: nothing is guessed."""
    states = GuestStates(tmp_path)
    await states.save("claude-1", {"x": 1}, "/project")
    next(tmp_path.iterdir()).write_text("{")
    with pytest.raises(SessionStateError):
        await states.load("claude-1")


async def test_old_ones_are_removed(tmp_path: Path) -> None:
    """Those that nobody has gone on with for a month."""
    states = GuestStates(tmp_path)
    await states.save("claude-1", {}, "/")
    await states.save("claude-2", {}, "/")
    old = next(path for path in tmp_path.iterdir() if "claude-1" in path.name)
    past = time.time() - 40 * 86_400
    os.utime(old, (past, past))
    await states.remove_old()
    assert await states.load("claude-1") is None
    assert await states.load("claude-2") is not None
