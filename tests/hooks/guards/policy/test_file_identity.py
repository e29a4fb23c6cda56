"""Files by what they are, not by what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.policy import file_identity
from amplifier_hooks.guards.policy.file_identity import Identities, get_identity


def test_a_place_is_found_by_what_it_is(tmp_path: Path) -> None:
    """A file or a folder; one that does not exist is nothing."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "other").touch()
    known = Identities([tmp_path / "folder", tmp_path / "file", tmp_path / "none"])
    assert known.find((tmp_path / "folder").stat()) == tmp_path / "folder"
    assert known.find((tmp_path / "file").stat()) == tmp_path / "file"
    assert known.find((tmp_path / "other").stat()) is None


def test_another_name_of_a_file_below_a_place_is_found(tmp_path: Path) -> None:
    """However deep the file lies; a link between other files is none of its business."""
    deep = tmp_path / "place" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "key").write_text("k")
    (tmp_path / "link").hardlink_to(deep / "key")
    (tmp_path / "plain").touch()
    (tmp_path / "twin").hardlink_to(tmp_path / "plain")
    known = Identities([tmp_path / "place"])
    assert known.find((tmp_path / "link").stat()) == tmp_path / "place"
    assert known.find((tmp_path / "twin").stat()) is None


def test_a_place_too_large_to_search_counts_as_found_where_it_must_be_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that might be meant is not read; for the rest the link alone is no reason."""
    monkeypatch.setattr(file_identity, "_MOST_ENTRIES", 2)
    for place in ("keys", "programs"):
        (tmp_path / place).mkdir()
        for n in range(4):
            (tmp_path / place / f"{n}").touch()
            (tmp_path / place / f"{n}-twin").hardlink_to(tmp_path / place / f"{n}")
    (tmp_path / "plain").touch()
    (tmp_path / "twin").hardlink_to(tmp_path / "plain")
    info = (tmp_path / "twin").stat()
    keys, programs = tmp_path / "keys", tmp_path / "programs"
    assert Identities([keys, programs], must_know=[keys]).find(info) == keys
    assert Identities([keys, programs]).find(info) is None


def test_identity_is_device_and_number(tmp_path: Path) -> None:
    """Two names of one file have one."""
    (tmp_path / "a").touch()
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").touch()
    assert get_identity((tmp_path / "a").stat()) == get_identity((tmp_path / "b").stat())
    assert get_identity((tmp_path / "a").stat()) != get_identity((tmp_path / "c").stat())
