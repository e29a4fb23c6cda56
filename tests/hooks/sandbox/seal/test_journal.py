"""What stood at sealed places is shared between programs, and survives one that is killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.sandbox.seal.copy import ABSENT, Copy, Tree
from amplifier_hooks.sandbox.seal.journal import (
    SealJournal,
    forget_journal,
    open_journal,
)

TREE: Tree = {".git": {"config": {}, "hooks": {}}}
COPY = Copy(
    "way",
    entries={
        ".git": Copy(
            "way",
            entries={
                "config": Copy("file", 0o644, (1, 2), b"\0\xff", links=2),
                "hooks": Copy("folder", 0o755, entries={"\udcff": Copy("link", data=b"x")}),
            },
        )
    },
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "journals"


def test_what_is_stored_is_what_is_loaded_by_another(tmp_path: Path, home: Path) -> None:
    """Bytes, modes, owners, links and odd names included."""
    SealJournal(tmp_path, home).store(TREE, COPY)
    tree, copy = SealJournal(tmp_path, home).load()
    assert (tree, copy) == (TREE, COPY)
    assert copy.entries[".git"].entries["config"].links == 2


def test_that_of_a_folder_that_is_gone_can_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It alone, and it need not be there."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for name in ("one", "two"):
        SealJournal(tmp_path / name).store(TREE, COPY)
    forget_journal(tmp_path / "one")
    forget_journal(tmp_path / "never")
    assert SealJournal(tmp_path / "one").load() == ({}, ABSENT)
    assert SealJournal(tmp_path / "two").load() == (TREE, COPY)


def test_nothing_empty_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A demonstration leaves the person's data folder as it was."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    SealJournal(tmp_path / "one").store(TREE, COPY)
    forget_journal(tmp_path / "one")
    assert list(tmp_path.iterdir()) == []


def test_each_folder_has_its_own(tmp_path: Path, home: Path) -> None:
    """And a folder without one has stored nothing."""
    SealJournal(tmp_path, home).store(TREE, COPY)
    assert SealJournal(tmp_path / "other", home).load() == ({}, ABSENT)


def test_the_first_is_alone_and_the_second_is_not(tmp_path: Path, home: Path) -> None:
    """The last one to leave closes it."""
    one, other = SealJournal(tmp_path, home), SealJournal(tmp_path, home)
    assert one.begin()
    one.share()
    assert not other.begin()
    one.end()
    assert other.was_left_open()
    other.end()
    assert one.begin()
    assert not one.was_left_open()


def test_a_journal_that_nobody_closed_says_so(tmp_path: Path, home: Path) -> None:
    """The lock goes with the program that held it, the mark stays."""
    killed = SealJournal(tmp_path, home)
    killed.begin()
    killed.share()
    os.close(killed._lock)  # as the kernel does
    later = SealJournal(tmp_path, home)
    assert later.begin()
    assert later.was_left_open()


def test_what_another_stored_is_read_again(tmp_path: Path, home: Path) -> None:
    """And the same is not written twice."""
    one, other = SealJournal(tmp_path, home), SealJournal(tmp_path, home)
    one.store(TREE, COPY)
    before = [path.stat().st_ino for path in home.glob("*.json")]
    other.store(TREE, COPY)
    assert [path.stat().st_ino for path in home.glob("*.json")] == before
    other.store(TREE, ABSENT)
    assert one.load() == (TREE, ABSENT)


def test_a_broken_file_is_as_good_as_none(tmp_path: Path, home: Path) -> None:
    """The copy is then taken anew."""
    journal = SealJournal(tmp_path, home)
    journal.store(TREE, COPY)
    for path in home.glob("*.json"):
        path.write_text('{"tree": 1}')
    assert SealJournal(tmp_path, home).load() == ({}, ABSENT)


def test_without_a_place_for_it_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seals then hold within this program."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert open_journal(tmp_path) is None
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert open_journal(tmp_path) is not None
    assert (tmp_path / "data/amplifier/seals").stat().st_mode & 0o777 == 0o700
