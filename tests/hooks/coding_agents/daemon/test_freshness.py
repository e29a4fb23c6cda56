"""Whether the process still is the one that is installed."""

from __future__ import annotations

import os
from pathlib import Path

from amplifier_hooks.coding_agents.client.client import VERSION
from amplifier_hooks.coding_agents.daemon.freshness import Freshness
from tests.support.guests import write_launch_text


def make_program(folder: Path, version: str = VERSION) -> Path:
    """The client of an installation."""
    program = folder / "client.py"
    program.write_text(f'import sys\n\nVERSION = "{version}"\n')
    return program


def test_what_is_as_it_was_stays(folder: Path) -> None:
    """Also when the file was written again with the same content."""
    write_launch_text(folder, "{}")
    fresh = Freshness(folder, make_program(folder))
    assert fresh.find_reason_to_restart(VERSION) == ""
    write_launch_text(folder, "{}")
    os.utime(folder / "launch.json", (1, 1))
    assert fresh.find_reason_to_restart(VERSION) == ""


def test_another_launch_is_a_reason(folder: Path) -> None:
    """Another program, environment or port; but not that the file is gone."""
    write_launch_text(folder, "{}")
    fresh = Freshness(folder, make_program(folder))
    write_launch_text(folder, '{"new": 1}')
    assert "launch.json has changed" in fresh.find_reason_to_restart(VERSION)
    (folder / "launch.json").unlink()
    assert fresh.find_reason_to_restart(VERSION) == ""


def test_a_new_version_on_the_disk_is_a_reason(folder: Path) -> None:
    """A client of another version is a reason only if a new process would be of another one."""
    program = make_program(folder)
    fresh = Freshness(folder, program)
    assert fresh.find_reason_to_restart("9.9") == ""
    make_program(folder, "9.9")
    assert fresh.find_reason_to_restart("9.9") == "version 9.9 is installed now"
    program.unlink()
    assert fresh.find_reason_to_restart("9.9") == ""


def test_the_version_is_found_in_the_real_client(folder: Path) -> None:
    """The line that is looked for is there."""
    assert Freshness(folder)._read_installed() == VERSION
