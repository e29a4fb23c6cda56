"""An event on its way through a command."""

from __future__ import annotations

import time
from pathlib import Path

from amplifier_hooks.coding_agents.self_test.shot import CommandShot

ENV = {"PATH": "/usr/bin:/bin", "GIVEN": "yes"}


def shoot(line: str, folder: Path, payload: bytes = b"payload") -> CommandShot:
    """Start a line with a payload."""
    return CommandShot(line, payload, ENV, folder)


def test_the_line_gets_what_the_agent_gives_it(tmp_path: Path) -> None:
    """The payload, the environment, the folder; and its answer comes back."""
    reply = shoot("cat; echo $GIVEN; pwd >&2; exit 3", tmp_path).wait(30)
    assert (reply.code, reply.stdout) == (3, "payloadyes\n")
    assert reply.stderr == f"{tmp_path}\n"


def test_a_command_that_reads_nothing_is_no_error(tmp_path: Path) -> None:
    """It may have ended before everything was written."""
    assert shoot("exit 0", tmp_path, b"x" * 10_000_000).wait(30).code == 0


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """With everything that it has started."""
    began = time.monotonic()
    reply = shoot("sleep 100 | cat", tmp_path).wait(0.05)
    assert reply.timed_out
    assert time.monotonic() - began < 50


def test_the_command_is_killed_and_not_the_shell(tmp_path: Path) -> None:
    """What stands behind `||` still happens."""
    shot = shoot("/bin/sh -c 'echo started > up; exec sleep 100' || echo closed", tmp_path)
    wait_for(tmp_path / "up")
    shot.kill_client()
    assert shot.wait(30).stdout == "closed\n"


def test_a_shell_that_became_the_command_is_killed(tmp_path: Path) -> None:
    """There is nothing behind it."""
    shot = shoot("exec /bin/sh -c 'echo started > up; read never < /dev/zero'", tmp_path)
    wait_for(tmp_path / "up")
    shot.kill_client()
    assert shot.wait(30).code == -9


def wait_for(path: Path) -> None:
    """Return when a file is there."""
    limit = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < limit
        time.sleep(0.01)
