"""Finding and ending descendants without the kernel's help."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from amplifier_hooks.sandbox.launcher.processes import (
    kill_below,
    list_descendants,
    send_signal,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
TREE = "bash -c 'sleep 60 & sleep 60 & echo ready; wait' & sleep 60 & wait"


def test_the_whole_tree_is_found_and_ended_but_not_its_root() -> None:
    """Children of children too."""
    root = subprocess.Popen(["bash", "-c", TREE], stdout=subprocess.PIPE)
    assert root.stdout.readline() == b"ready\n"
    found = list_descendants(root.pid)
    assert len(found) == 4
    assert root.pid not in found
    kill_below(root.pid)
    assert root.wait(20) == 0
    assert list_descendants(root.pid) == set()
    root.stdout.close()


def test_a_process_that_is_gone_is_no_error() -> None:
    """Another may have been faster."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    send_signal(ended.pid, signal.SIGKILL)
    assert list_descendants(ended.pid) == set()


def test_a_child_that_ends_wakes_whoever_polls() -> None:
    """In a process of its own, because signal handlers belong to a whole process."""
    program = (
        "import os, select, subprocess\n"
        "from amplifier_hooks.sandbox.launcher.processes import watch_children\n"
        "wake = watch_children()\n"
        "child = subprocess.Popen(['true'])\n"
        "assert select.select([wake], [], [], 30)[0] == [wake]\n"
        "print(os.waitpid(child.pid, 0)[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
