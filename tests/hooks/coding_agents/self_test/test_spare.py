"""A resident process that only the check uses."""

from __future__ import annotations

import json
import stat

import pytest

from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.self_test.spare import prepare_spare
from tests.support.guests import call_client, make_guest_folder, write_played_launch


def test_it_is_started_as_the_real_one_but_elsewhere() -> None:
    """The same program in the same environment, in a private folder that goes away."""
    with make_guest_folder() as folder:
        write_played_launch(folder, GIVEN="yes")
        real = read_launch(bytes(folder))
        with prepare_spare(folder) as spare:
            found = read_launch(bytes(spare.folder))
            assert spare.find_pid() is None
            assert call_client(spare.folder).returncode == 0
            pid = spare.find_pid()
        assert pid is not None
        assert not (folder / "guest.sock").exists()
    assert found.argv == [*real.argv[:-1], str(spare.folder)]
    assert found.env["GIVEN"] == "yes"
    assert not spare.folder.exists()


def test_it_has_a_door_of_its_own() -> None:
    """Two processes cannot listen at one port."""
    with make_guest_folder() as folder:
        http = {"port": 1234, "token": "t"}
        path = folder / "launch.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps({"argv": ["/bin/true", "x"], "env": {}, "http": http}))
        with prepare_spare(folder) as spare:
            found = read_launch(bytes(spare.folder)).http
            mode = stat.S_IMODE((spare.folder / "launch.json").stat().st_mode)
    assert found == {"port": spare.port, "token": "t"}
    assert spare.port not in (0, 1234)
    assert mode == 0o600


def test_without_a_launch_file_there_is_none() -> None:
    """The sentence says what to do."""
    with (
        make_guest_folder() as folder,
        pytest.raises(ValueError, match="install the guard again"),
        prepare_spare(folder),
    ):
        pass
