"""Calls of the kernel, each in a process that can be spoiled."""

from __future__ import annotations

import subprocess
import sys

import pytest

from amplifier_hooks.sandbox.linux.landlock import query_abi
from tests.support.isolation import isolate, require_isolation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="calls of Linux")
BEGIN = "import os, signal, subprocess\n"
BEGIN += "from amplifier_hooks.sandbox.launcher.calls import *\n"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


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


def test_without_landlock_there_is_no_scope() -> None:
    """Then nobody must ever signal everybody."""
    program = (
        "from amplifier_hooks.sandbox.launcher import calls\n"
        "calls._CREATE_RULESET = 9999\n"
        "print(enter_scope())\n"
    )
    assert run(program) == "False\n"


def test_capabilities_are_given_up_for_good() -> None:
    """Also those that a program could get by being run."""
    program = "drop_capabilities(0b11)\nsubprocess.run(['grep', 'Cap', '/proc/self/status'])"
    sets = {line.split()[0]: int(line.split()[1], 16) for line in run(program).splitlines()}
    assert all(value & ~0b11 == 0 for name, value in sets.items() if name != "CapBnd:")
    if sets["CapEff:"]:
        assert sets["CapBnd:"] & ~0b11 == 0


def test_a_filter_is_in_force_at_once() -> None:
    """Here one that refuses nothing."""
    program = (
        "import struct\n"
        "set_option(NO_NEW_PRIVS, 1)\n"
        "apply_filter(struct.pack('HBBI', 6, 0, 0, 0x7FFF0000))\n"
        "print(*[line for line in open('/proc/self/status') if line.startswith('Seccomp:')])\n"
    )
    assert run(program).split() == ["Seccomp:", "2"]


def test_what_the_kernel_refuses_is_raised() -> None:
    """With its reason."""
    program = "try: restrict_self(-1)\nexcept OSError as e: print(bool(e.errno))"
    assert run(program) == "True\n"
