"""The launcher as a program."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.client import _spawn
from amplifier_hooks.sandbox.launcher.protocol import KILL, PLAIN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")


@pytest.fixture
def launcher():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.set_inheritable(True)
    pid = _spawn(theirs.fileno(), PLAIN)
    theirs.close()
    yield pid, ours
    ours.close()
    os.waitpid(pid, 0)


def open_cell(channel: socket.socket) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    socket.send_fds(channel, [PLAIN], [theirs.fileno()])
    theirs.close()
    ours.settimeout(30)
    return ours


def test_it_carries_nothing_that_it_does_not_need(launcher) -> None:
    """No descriptor of the agent, no key in its environment, no terminal."""
    pid, channel = launcher
    open_cell(channel).close()
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"PATH=" not in environment
    streams = {str(Path(f"/proc/{pid}/fd/{number}").readlink()) for number in (0, 1, 2)}
    assert streams == {os.devnull}


def test_everything_ends_with_the_agent(launcher) -> None:
    """The cells, too: a closed socket is all that they see of it."""
    channel = launcher[1]
    cell = open_cell(channel)
    channel.close()
    assert cell.recv(64) == b""
    cell.close()


def test_a_cell_that_is_killed_does_not_end_the_others(launcher) -> None:
    """Without a scope only what was below it is ended."""
    pid, channel = launcher
    first, second = open_cell(channel), open_cell(channel)
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    while len(children.stdout.split()) < 2:
        children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
    assert first.recv(64) == b""
    second.send(KILL)
    third = open_cell(channel)
    for cell in (first, second, third):
        cell.close()
