"""What is remembered of the files that we changed."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.record import Record, Records

RECORD = Record(
    path="/h/.claude/settings.json",
    agent="claude",
    scope="user",
    root="",
    written="ab",
    existed=True,
    mode=0o644,
    folders=("/h/.claude",),
)
PATH = Path(RECORD.path)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """In a folder that is not there yet."""
    return Records(tmp_path / "guests" / "backups")


def test_a_record_is_found_again_with_the_old_content(records: Records) -> None:
    """Byte for byte."""
    records.save(RECORD, b"\xff old")
    assert records.find(PATH) == RECORD
    assert records.read_before(PATH) == b"\xff old"
    assert list(records.list()) == [RECORD]


def test_nobody_else_can_read_them(records: Records) -> None:
    """Settings hold secrets."""
    records.save(RECORD, b"{}")
    for folder in (records.folder, records.folder.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in records.folder.iterdir()} == {0o600}


def test_a_file_that_was_not_there_has_no_old_content(records: Records) -> None:
    """Even if an older record had one."""
    records.save(RECORD, b"{}")
    records.save(replace(RECORD, existed=False), None)
    assert records.read_before(PATH) is None


def test_nothing_is_left_of_what_is_forgotten(records: Records) -> None:
    """The folder goes with the last record."""
    records.save(RECORD, b"{}")
    records.forget(PATH)
    assert not records.folder.exists()
    assert list(records.list()) == []
    records.forget(PATH)


@pytest.mark.parametrize("text", ["{", "[]", '{"path": "x"}', '{"folders": 1}'])
def test_a_damaged_record_is_none(records: Records, text: str) -> None:
    """It says nothing that could be trusted."""
    records.save(RECORD, None)
    next(records.folder.glob("*.json")).write_text(text)
    assert records.find(PATH) is None
    assert list(records.list()) == []


def test_they_are_kept_with_the_persons_data(tmp_path: Path) -> None:
    """Not in a project."""
    found = Records(env={"HOME": "/h", "XDG_DATA_HOME": str(tmp_path)}).folder
    assert found == tmp_path / "amplifier" / "guests" / "backups"
