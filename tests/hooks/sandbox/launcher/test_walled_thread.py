"""Starting a command from a thread behind a wall."""

from __future__ import annotations

import _thread
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.sandbox.landlock import READ, build_ruleset, query_abi
from amplifier_hooks.sandbox.launcher.kernel import NO_NEW_PRIVS, set_option
from amplifier_hooks.sandbox.launcher.program import WalledThread, run_program
from tests.support.waiting import wait_until

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
    order = {"argv": list(argv), "env": {"PATH": os.environ["PATH"]}, "cwd": "/"}
    return {**order, "inherited": None, **more}


@pytest.fixture(autouse=True)
def stay_here():
    here = Path.cwd()
    yield
    os.chdir(here)


def test_a_program_runs_in_a_session_of_its_own(streams) -> None:
    """In the folder that was asked for, found by its own search path."""
    descriptors, read = streams
    order = make_order("sh", "-c", "pwd; ps -o sid= -p $$ || echo $$", cwd="/usr")
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
        run_program(make_order("prog", env={"PATH": str(tmp_path)}), streams[0])


@pytest.fixture
def ruleset(tmp_path: Path):
    """Everything can be read, and nothing can be written."""
    if query_abi() < 1:
        pytest.skip("THIS KERNEL HAS NO LANDLOCK")
    made = build_ruleset([(Path("/"), READ)], query_abi(), tcp=True)
    yield made
    os.close(made)


@pytest.fixture(scope="module", autouse=True)
def no_new_privileges():
    """As in a cell; it stays with the main thread of the tests, which does not need any."""
    set_option(NO_NEW_PRIVS, 1)


def test_only_the_command_is_behind_the_wall(streams, ruleset, tmp_path) -> None:
    """The thread has gone there and ended; this process can do what it could."""
    order = make_order("touch", str(tmp_path / "by-command"))
    thread = WalledThread(7, ruleset)
    assert thread.number == 7
    assert os.waitpid(thread.run(order, streams[0]), 0)[1] != 0
    (tmp_path / "by-us").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["by-us"]


async def test_a_thread_that_is_not_needed_ends_without_a_command(ruleset) -> None:
    """When the next order has another rule set."""
    before = _thread._count()
    thread = WalledThread(1, ruleset)
    thread.close()
    await wait_until(lambda: _thread._count() <= before)


def test_a_domain_that_cannot_be_entered_means_no_command(streams) -> None:
    """What the kernel says is raised."""
    with pytest.raises(OSError, match="descriptor"):
        WalledThread(1, 999).run(make_order("true"), streams[0])
