"""The agent's side of the launcher."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.sandbox import client
from amplifier_hooks.sandbox.client import (
    Cell,
    CellLost,
    Launcher,
    LauncherUnavailable,
    Order,
    _encode,
)
from amplifier_hooks.sandbox.launcher import protocol
from amplifier_hooks.sandbox.launcher.protocol import PLAIN, receive
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall

ODD_ORDER = Order(["echo", "ü\udcff"], {"A": "b"}, "/")


@pytest.fixture
def pair() -> Iterator[tuple[Cell, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    cell = Cell(ours)
    yield cell, theirs
    cell.close()
    theirs.close()


def say_ended(theirs: socket.socket, code: int, left: int) -> None:
    theirs.send(protocol.ENDED + struct.pack("ii", code << 8, left))


async def test_an_order_arrives_with_its_descriptors(pair) -> None:
    """Also with a name that is no text."""
    cell, theirs = pair
    read, write = os.pipe()
    cell.start(ODD_ORDER, [read])
    word, descriptors = receive(theirs, 65_536, 8)
    order = marshal.loads(word[1:])
    assert word[:1] == protocol.RUN
    assert order["argv"] == ["echo", "ü\udcff"]
    assert len(descriptors) == 1
    for descriptor in (*descriptors, read, write):
        os.close(descriptor)


async def test_a_command_that_left_nothing_is_done_at_once(pair) -> None:
    """One message says both."""
    cell, theirs = pair
    cell.start(ODD_ORDER, [])
    assert not cell.is_empty
    say_ended(theirs, 3, 0)
    assert await cell.wait() == 3
    assert (cell.returncode, cell.is_empty, cell.usable) == (3, True, True)


async def test_what_is_left_is_ended_on_request(pair) -> None:
    """With the grace that was given."""
    cell, theirs = pair
    cell.start(ODD_ORDER, [])
    receive(theirs, 65_536, 8)
    say_ended(theirs, 0, 1)
    assert await cell.wait() == 0
    assert not cell.is_empty
    theirs.send(protocol.GONE)
    await cell.end(0.5)
    assert theirs.recv(64) == protocol.TERMINATE + struct.pack("d", 0.5)
    assert cell.is_empty


@pytest.mark.parametrize(("told", "kind"), [((2, "gone"), OSError), ((None, "null"), ValueError)])
async def test_a_failure_to_start_is_raised(pair, told, kind) -> None:
    """As the operating system, or Python, put it."""
    cell, theirs = pair
    cell.start(ODD_ORDER, [])
    theirs.send(protocol.FAILED + marshal.dumps(told))
    with pytest.raises(kind):
        await cell.wait()
    assert cell.returncode is None


async def test_a_lost_supervisor_is_noticed(pair) -> None:
    """Such a cell is not used again."""
    cell, theirs = pair
    cell.start(ODD_ORDER, [])
    theirs.close()
    with pytest.raises(CellLost):
        await cell.wait()
    await cell.kill(0.1)
    assert (cell.usable, cell.is_empty) == (False, True)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
async def test_names_arrive_as_the_bytes_that_they_were(monkeypatch, encoding) -> None:
    """In whatever encoding this process reads names."""
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: encoding)
    name = b"\xc3\xbc\xff".decode(encoding, "surrogateescape")
    if encoding != "utf-8":
        monkeypatch.setattr(os, "fsencode", lambda text: text.encode(encoding, "surrogateescape"))
    words: Any = _encode(Order([name], {}, "/"))["argv"]
    assert words[0].encode("utf-8", "surrogateescape") == b"\xc3\xbc\xff"


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")
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
    launcher.release(cell)
    os.close(null)
    return cell


@needs_linux
async def test_an_idle_cell_is_used_again(launcher) -> None:
    """Opening one takes longer than the command."""
    assert await run(launcher) is await run(launcher)


@needs_linux
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


@needs_linux
async def test_a_launcher_that_was_killed_is_started_again(launcher) -> None:
    """Idle cells go on; a new one needs a new launcher."""
    await run(launcher)
    before = launcher._process
    os.kill(before, signal.SIGKILL)
    os.waitpid(before, 0)
    launcher._idle.pop().close()
    await run(launcher)
    assert launcher._process != before


@needs_linux
def test_a_launcher_has_a_session_of_its_own_from_its_first_moment(launcher) -> None:
    """Or a Ctrl-C while it starts would end the command that it is started for."""
    launcher._launch()
    assert os.getsid(launcher._process) == launcher._process


@needs_linux
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


@needs_linux
def test_a_launcher_needs_an_interpreter(launcher, monkeypatch) -> None:
    """A program that has Python inside may have none to start."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(LauncherUnavailable, match="no Python interpreter"):
        launcher.run(ORDER, [])


@needs_linux
async def test_after_a_fork_the_child_has_a_launcher_of_its_own(launcher) -> None:
    """The parent's cells are the parent's."""
    await run(launcher)
    launcher._owner = os.getpid() + 1
    launcher._forget_inherited()
    assert (launcher._channel, launcher._idle, launcher._process) == (None, [], 0)


@needs_linux
async def test_a_cell_is_used_only_for_what_it_has_given_up(launcher) -> None:
    """One that gave up less would let its command do more."""
    first = await run(launcher)
    first.profile = 4711
    assert await run(launcher) is not first
