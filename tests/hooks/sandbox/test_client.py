"""The agent's side of the launcher."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import client
from amplifier_hooks.sandbox.cell import Cell, Order
from amplifier_hooks.sandbox.client import Launcher, LauncherUnavailable
from amplifier_hooks.sandbox.launcher.words import PLAIN
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")
ORDER = Order(["true"], dict(os.environ), "/")


@pytest.fixture
def launcher():
    made = Launcher(PLAIN)
    yield made
    made.close()


async def run(launcher: Launcher) -> Cell:
    null = os.open(os.devnull, os.O_RDWR)
    cell = launcher.run(ORDER, [null] * 3)
    assert await cell.wait() == 0
    launcher.give_back(cell)
    os.close(null)
    return cell


async def test_an_idle_cell_is_used_again(launcher) -> None:
    """Opening one takes longer than the command."""
    assert await run(launcher) is await run(launcher)


async def test_a_cell_that_died_while_idle_is_replaced(launcher) -> None:
    """Nobody notices but the next command, which gets another one."""
    first = await run(launcher)
    launcher._idle.remove(first)
    first.close()
    ours, theirs = client._make_pair()
    theirs.close()
    dead = Cell(ours)
    launcher._idle.append(dead)
    assert await run(launcher) is not dead
    assert not dead.usable


async def test_a_launcher_that_was_killed_is_started_again(launcher) -> None:
    """Idle cells go on; a new one needs a new launcher."""
    await run(launcher)
    before = launcher._process
    os.kill(before, signal.SIGKILL)
    os.waitpid(before, 0)
    launcher._idle.pop().close()
    await run(launcher)
    assert launcher._process != before


def test_a_launcher_has_a_session_of_its_own_from_its_first_moment(launcher) -> None:
    """Or a Ctrl-C while it starts would end the command that it is started for."""
    launcher._launch()
    assert os.getsid(launcher._process) == launcher._process


async def test_no_launcher_means_no_command_behind_a_wall(tmp_path: Path, monkeypatch) -> None:
    """A sentence, and a failure; without a wall the command runs as a plain child."""
    monkeypatch.setattr(client, "_spawn", fail)
    for walled in (True, False):
        monkeypatch.setitem(client._LAUNCHERS, walled, Launcher(PLAIN))
    marker = tmp_path / "ran"
    wall = Wall((tmp_path,), (), (), tmp_path)
    outcome = await run_command(f"touch {marker}", wall=wall)
    assert outcome.returncode == 126
    assert "was not run: its sandbox cannot be started (no more processes)" in outcome.stderr
    assert not marker.exists()
    assert (await run_command(f"touch {marker}", contained=True)).returncode == 0
    assert marker.exists()


def fail(*_: object) -> int:
    raise OSError(11, "no more processes")


def test_a_launcher_needs_an_interpreter(launcher, monkeypatch) -> None:
    """A program that has Python inside may have none to start."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(LauncherUnavailable, match="no Python interpreter"):
        launcher.run(ORDER, [])


async def test_after_a_fork_the_child_has_a_launcher_of_its_own(launcher) -> None:
    """The parent's cells are the parent's."""
    await run(launcher)
    launcher._owner = os.getpid() + 1
    launcher._forget_inherited()
    assert (launcher._channel, launcher._idle, launcher._process) == (None, [], 0)


async def test_a_cell_is_used_only_for_what_it_has_given_up(launcher) -> None:
    """One that gave up less would let its command do more."""
    first = await run(launcher)
    first.profile = 4711
    assert await run(launcher) is not first
