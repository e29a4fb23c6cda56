"""A supervisor that the test talks to; what it ends is tried in test_process_cell."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import struct
import sys
import threading
from pathlib import Path

import pytest

from amplifier_foundation.machine.sandbox.launcher import supervisor
from amplifier_foundation.machine.sandbox.launcher.supervisor import Supervisor
from amplifier_foundation.machine.sandbox.launcher.words import ENDED, FAILED, GONE, KILL, RUN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cells are a matter of Linux")


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch):
    """Our end of its socket; it runs in a thread of this process."""
    monkeypatch.setattr(supervisor, "ANY_CHILD", 0)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(30)
    wake, write = os.pipe()
    os.set_blocking(write, False)
    before = signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(write)
    thread = threading.Thread(target=Supervisor(theirs, wake, scoped=False).run)
    thread.start()
    here = Path.cwd()
    yield ours
    ours.close()
    thread.join(30)
    assert not thread.is_alive()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, before)
    os.chdir(here)
    theirs.close()
    for descriptor in (wake, write):
        os.close(descriptor)


def order(agent: socket.socket, *argv: bytes) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    wanted = {"argv": list(argv), "env": {b"PATH": b"/usr/bin:/bin"}, "cwd": b"/"}
    more = {"profile": None, "landlock": 0, "inherited": None}
    text = marshal.dumps({**wanted, **more})
    socket.send_fds(agent, [RUN, text], [null] * 3)
    os.close(null)


def test_commands_run_one_after_the_other(agent) -> None:
    """Each is told with its status, and that nothing is left."""
    for code in (0, 3):
        order(agent, b"sh", b"-c", f"exit {code}".encode())
        assert agent.recv(64) == ENDED + struct.pack("ii", code << 8, 0)


def test_what_cannot_start_is_told_and_the_next_one_can(agent) -> None:
    """The cell stays usable."""
    order(agent, b"nowhere")
    assert agent.recv(4096)[:1] == FAILED
    assert agent.recv(64) == GONE
    order(agent, b"true")
    assert agent.recv(64)[:1] == ENDED


def test_a_word_ends_the_command(agent) -> None:
    """At once."""
    order(agent, b"sleep", b"60")
    agent.send(KILL)
    assert agent.recv(64) == ENDED + struct.pack("ii", signal.SIGKILL, 0)
