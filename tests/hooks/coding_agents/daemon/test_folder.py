"""The folder of the guests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.folder import SOCKET, choose_folder, prepare_folder


def test_it_is_with_the_other_data() -> None:
    """The XDG folder, or the one below HOME."""
    assert choose_folder({"XDG_DATA_HOME": "/d", "HOME": "/h"}) == Path("/d/amplifier/guests")
    assert choose_folder({"HOME": "/h"}) == Path("/h/.local/share/amplifier/guests")


def test_a_path_too_long_for_a_socket_is_not_chosen() -> None:
    """The kernel takes about a hundred bytes, and a letter may be several."""
    for home in ("/" + "h" * 90, "/" + "ä" * 45):
        chosen = choose_folder({"HOME": home, "TMPDIR": "/t"})
        assert not chosen.is_relative_to(home)
        assert len(os.fsencode(chosen / SOCKET)) < 100
        assert str(os.geteuid()) in str(chosen)


def test_it_is_made_for_its_owner_only(tmp_path: Path) -> None:
    """Whatever the umask; making it again changes nothing."""
    place = tmp_path / "a" / "guests"
    prepare_folder(place)
    prepare_folder(place)
    assert place.stat().st_mode & 0o777 == 0o700


def test_what_is_there_already_must_be_as_private(tmp_path: Path) -> None:
    """A folder that others can enter, or a link, is not made into one."""
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o755)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for place in (loose, link):
        with pytest.raises(PermissionError, match="0700"):
            prepare_folder(place)
