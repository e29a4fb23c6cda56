"""Calls of the kernel, each in a process that can be spoiled."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from amplifier_hooks.sandbox.landlock import query_abi
from amplifier_hooks.sandbox.launcher.kernel import (
    kill_below,
    list_descendants,
    send_signal,
)
from tests.support.isolation import isolate, require_isolation

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="calls of Linux")
BEGIN = "import os, signal, subprocess\n"
BEGIN += "from amplifier_hooks.sandbox.launcher.kernel import *\n"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_linux
@pytest.mark.skipif(query_abi() < 6, reason="THIS KERNEL CANNOT SCOPE SIGNALS")
def test_in_a_scope_everybody_means_the_descendants() -> None:
    """In isolation, because without a scope everybody means everybody."""
    require_isolation()
    program = (
        "quiet = {'stdout': subprocess.DEVNULL}\n"
        "before = subprocess.Popen(['sleep', '60'], **quiet)\n"
        "assert enter_scope()\n"
        "inside = subprocess.Popen(['sleep', '60'], start_new_session=True, **quiet)\n"
        "os.kill(-1, signal.SIGKILL)\n"
        "print(inside.wait(30), before.poll())\n"
    )
    command = isolate([sys.executable, "-c", BEGIN + program])
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert done.stdout == "-9 None\n", done.stderr


@needs_linux
def test_without_landlock_there_is_no_scope() -> None:
    """Then nobody must ever signal everybody."""
    program = (
        "from amplifier_hooks.sandbox.launcher import kernel\n"
        "kernel._CREATE_RULESET = 9999\n"
        "print(enter_scope())\n"
    )
    assert run(program) == "False\n"


@needs_linux
def test_capabilities_are_given_up_for_good() -> None:
    """Also those that a program could get by being run."""
    program = "drop_capabilities(0b11)\nsubprocess.run(['grep', 'Cap', '/proc/self/status'])"
    sets = {line.split()[0]: int(line.split()[1], 16) for line in run(program).splitlines()}
    assert all(value & ~0b11 == 0 for name, value in sets.items() if name != "CapBnd:")
    if sets["CapEff:"]:
        assert sets["CapBnd:"] & ~0b11 == 0


@needs_linux
def test_a_filter_is_in_force_at_once() -> None:
    """Here one that refuses nothing."""
    program = (
        "import struct\n"
        "set_option(NO_NEW_PRIVS, 1)\n"
        "apply_filter(struct.pack('HBBI', 6, 0, 0, 0x7FFF0000))\n"
        "print(*[line for line in open('/proc/self/status') if line.startswith('Seccomp:')])\n"
    )
    assert run(program).split() == ["Seccomp:", "2"]


@needs_linux
def test_what_the_kernel_refuses_is_raised() -> None:
    """With its reason."""
    program = "try: restrict_self(-1)\nexcept OSError as e: print(bool(e.errno))"
    assert run(program) == "True\n"


TREE = "bash -c 'sleep 60 & sleep 60 & echo ready; wait' & sleep 60 & wait"


@needs_linux
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


@needs_linux
def test_a_process_that_is_gone_is_no_error() -> None:
    """Another may have been faster."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    send_signal(ended.pid, signal.SIGKILL)
    assert list_descendants(ended.pid) == set()


@needs_linux
def test_a_child_that_ends_wakes_whoever_polls() -> None:
    """In a process of its own, because signal handlers belong to a whole process."""
    program = (
        "import os, select, subprocess\n"
        "from amplifier_hooks.sandbox.launcher.kernel import watch_children\n"
        "wake = watch_children()\n"
        "child = subprocess.Popen(['true'])\n"
        "assert select.select([wake], [], [], 30)[0] == [wake]\n"
        "print(os.waitpid(child.pid, 0)[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
