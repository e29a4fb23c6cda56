"""Starting a command from a thread behind a wall."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation.machine.sandbox.launcher.command import WalledThread, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="walls of Linux")


@pytest.fixture
def streams():
    """Nothing to read, and a pipe for what is printed."""
    null = os.open(os.devnull, os.O_RDWR)
    read, write = os.pipe()
    yield [null, write, null], read
    for descriptor in (null, read, write):
        os.close(descriptor)


def make_order(*argv: str, **more: Any) -> dict[str, Any]:
    env = {b"PATH": os.fsencode(os.environ["PATH"])}
    order = {"argv": [os.fsencode(one) for one in argv], "env": env, "cwd": b"/", "token": 1}
    return {**order, "inherited": None, "capabilities": 0, "filter": b"", **more}


@pytest.fixture(autouse=True)
def stay_here():
    here = Path.cwd()
    yield
    os.chdir(here)


def test_a_program_runs_in_a_session_of_its_own(streams) -> None:
    """In the folder that was asked for, found by its own search path."""
    descriptors, read = streams
    order = make_order("sh", "-c", "pwd; ps -o sid= -p $$ || echo $$", cwd=b"/usr")
    pid = run_program(order, descriptors)
    assert os.waitpid(pid, 0)[1] == 0
    folder, session = os.read(read, 100).split()
    assert (folder, int(session)) == (b"/usr", pid)
    assert Path.cwd() == Path("/")


@pytest.mark.parametrize(("program", "error"), [("nowhere", FileNotFoundError), ("/etc", OSError)])
def test_what_cannot_run_raises(streams, program, error) -> None:
    """Nothing was started."""
    with pytest.raises(error):
        run_program(make_order(program), streams[0])


def test_a_file_without_the_right_to_run_is_told_from_none(streams, tmp_path) -> None:
    """As a shell does."""
    (tmp_path / "prog").write_text("")
    with pytest.raises(PermissionError):
        run_program(make_order("prog", env={b"PATH": os.fsencode(tmp_path)}), streams[0])


def test_only_the_command_is_behind_the_wall(streams) -> None:
    """The thread has gone up to it and ended there; this process has not."""
    descriptors, read = streams
    order = make_order("grep", "NoNewPrivs", "/proc/self/status")
    thread = WalledThread(order, None)
    assert thread.token == 1
    assert os.waitpid(thread.run(order, descriptors), 0)[1] == 0
    assert os.read(read, 100).split() == [b"NoNewPrivs:", b"1"]
    assert "NoNewPrivs:\t0" in Path("/proc/self/status").read_text()
    assert not thread._thread.is_alive()


def test_a_thread_that_is_not_needed_ends_without_a_command() -> None:
    """When the next order has another wall."""
    thread = WalledThread(make_order("true"), None)
    thread.close()
    assert not thread._thread.is_alive()


def test_a_wall_that_cannot_be_put_up_means_no_command(streams) -> None:
    """Neither a rule set nor a filter that the kernel does not take."""
    with pytest.raises(OSError, match="descriptor"):
        WalledThread(make_order("true"), 999).run(make_order("true"), streams[0])
    order = make_order("true", filter=b"\xff" * 8)
    with pytest.raises(OSError, match="Invalid"):
        WalledThread(order, None).run(order, streams[0])
