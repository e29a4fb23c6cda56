"""Writing launch.json."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.launching import (
    Door,
    choose_door,
    select_environment,
    write_launch,
)


def test_clients_read_what_is_written(folder: Path) -> None:
    """This interpreter by its own path, the folder, and no HTTP unless there is a door."""
    write_launch(folder, {"HOME": "/h"})
    argv = [sys.executable, "-P", "-m", "amplifier_hooks.coding_agents", str(folder)]
    assert read_launch(os.fsencode(folder)) == (argv, {"HOME": "/h"}, None)
    assert (folder / "launch.json").stat().st_mode & 0o777 == 0o600
    write_launch(folder, {}, door=Door(5, "t"))
    assert read_launch(os.fsencode(folder)).http == {"port": 5, "token": "t"}


def test_only_what_the_process_needs_is_kept_of_the_environment() -> None:
    """No keys, no interpreter settings, no marks of agents."""
    kept = {"HOME": "1", "PATH": "2", "LC_ALL": "3", "XDG_DATA_HOME": "4", "AMPLIFIER_X": "5"}
    dropped = {
        "ANTHROPIC_API_KEY": "x",
        "PYTHONPATH": "x",
        "LD_PRELOAD": "x",
        "CLAUDECODE": "1",
        "AMPLIFIER_GUEST_SECONDS": "1",
    }
    assert select_environment(kept | dropped) == kept


def test_bytes_that_are_no_text_survive(folder: Path) -> None:
    """A path in the environment may have any bytes."""
    odd = os.fsdecode(b"/h\xff")
    write_launch(folder, {"HOME": odd})
    assert read_launch(os.fsencode(folder)).env == {"HOME": odd}


def test_each_door_has_a_token_of_its_own() -> None:
    """A port that one can listen on, and a word that nobody guesses."""
    one, other = choose_door(), choose_door()
    assert one.token != other.token
    assert len(one.token) > 40
    assert 1024 < one.port < 65536
