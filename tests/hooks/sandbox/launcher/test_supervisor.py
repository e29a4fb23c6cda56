"""A supervisor that the test talks to; what it ends is tried in test_process_cell."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator

import pytest

from amplifier_hooks.sandbox.client import Launcher
from amplifier_hooks.sandbox.launcher.protocol import (
    ENDED,
    FAILED,
    GONE,
    KILL,
    PLAIN,
    RUN,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")


@pytest.fixture
def agent() -> Iterator[socket.socket]:
    """Our end of the socket of a supervisor."""
    launcher = Launcher(PLAIN)
    cell = launcher._open()
    cell._control.settimeout(30)
    yield cell._control
    cell.close()
    launcher.close()


def order(agent: socket.socket, *argv: str) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    wanted = {"argv": list(argv), "env": {"PATH": "/usr/bin:/bin"}, "cwd": "/"}
    more = {"profile": None, "landlock": 0, "inherited": None}
    text = marshal.dumps({**wanted, **more})
    socket.send_fds(agent, [RUN, text], [null] * 3)
    os.close(null)


def test_commands_run_one_after_the_other(agent) -> None:
    """Each is told with its status, and that nothing is left."""
    for code in (0, 3):
        order(agent, "sh", "-c", f"exit {code}")
        assert agent.recv(64) == ENDED + struct.pack("ii", code << 8, 0)


def test_what_cannot_start_is_told_and_the_next_one_can(agent) -> None:
    """The cell stays usable."""
    order(agent, "nowhere")
    assert agent.recv(4096)[:1] == FAILED
    assert agent.recv(64) == GONE
    order(agent, "true")
    assert agent.recv(64)[:1] == ENDED


def test_a_word_ends_the_command(agent) -> None:
    """At once."""
    order(agent, "sleep", "60")
    agent.send(KILL)
    assert agent.recv(64) == ENDED + struct.pack("ii", signal.SIGKILL, 0)
