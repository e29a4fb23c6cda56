"""The folder of the guests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.folder import (
    SOCKET,
    HttpPort,
    choose_folder,
    choose_port,
    prepare_folder,
    select_environment,
    write_launch,
)


def test_clients_read_what_is_written(folder: Path) -> None:
    """This interpreter by its own path, the folder, and no HTTP unless there is a door."""
    write_launch(folder, {"HOME": "/h"})
    argv = [sys.executable, "-P", "-m", "amplifier_hooks.coding_agents", str(folder)]
    assert read_launch(os.fsencode(folder)) == (argv, {"HOME": "/h"}, None)
    assert (folder / "launch.json").stat().st_mode & 0o777 == 0o600
    odd = os.fsdecode(b"/h\xff")  # a path may have any bytes
    write_launch(folder, {"HOME": odd})
    assert read_launch(os.fsencode(folder)).env == {"HOME": odd}
    write_launch(folder, {}, http=HttpPort(5, "t"))
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


def test_each_door_has_a_token_of_its_own() -> None:
    """A port that one can listen on, and a word that nobody guesses."""
    one, other = choose_port(), choose_port()
    assert one.token != other.token
    assert len(one.token) > 40
    assert 1024 < one.port < 65536


def test_it_is_with_the_other_data_unless_the_path_is_too_long_for_a_socket() -> None:
    """The kernel takes about a hundred bytes, and a letter may be several."""
    assert choose_folder({"XDG_DATA_HOME": "/d", "HOME": "/h"}) == Path("/d/amplifier/guests")
    assert choose_folder({"HOME": "/h"}) == Path("/h/.local/share/amplifier/guests")
    for home in ("/" + "h" * 90, "/" + "ä" * 45):
        chosen = choose_folder({"HOME": home, "TMPDIR": "/t"})
        assert not chosen.is_relative_to(home)
        assert len(os.fsencode(chosen / SOCKET)) < 100
        assert str(os.geteuid()) in str(chosen)


def test_what_is_there_already_must_be_as_private(tmp_path: Path) -> None:
    """One is made for its owner only; a folder that others can enter, or a link, is not."""
    place = tmp_path / "a" / "guests"
    for _ in range(2):
        prepare_folder(place)
        assert place.stat().st_mode & 0o777 == 0o700
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o755)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for place in (loose, link):
        with pytest.raises(PermissionError, match="0700"):
            prepare_folder(place)
