"""The open segment of a writer."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from amplifier_audit.disk import SegmentFile
from amplifier_audit.log_directory import AuditDirectory
from tests.audit.support import count_open_files


@pytest.fixture
def directory(tmp_path: Path) -> AuditDirectory:
    found = AuditDirectory(tmp_path / "log")
    found.create()
    return found


def test_a_new_segment_is_for_its_owner_only_and_its_name_is_durable(
    directory: AuditDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a crash could take the file with its name."""
    synced: list[bool] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(stat.S_ISDIR(os.fstat(file).st_mode))
    )
    segment = SegmentFile(directory, 3, 0)
    assert stat.S_IMODE(directory.segment_path(3).stat().st_mode) == 0o600
    assert synced == [True]
    segment.close()
    SegmentFile(directory, 3, 0).close()
    assert synced == [True]


def test_what_was_written_is_synced_up_to_its_end(directory: AuditDirectory) -> None:
    """Both ends are known at any time."""
    segment = SegmentFile(directory, 0, 0)
    segment.write(b"one\n")
    assert (segment.offset, segment.synced) == (4, 0)
    segment.write(b"two\n")
    segment.sync()
    assert (segment.offset, segment.synced) == (8, 8)
    segment.close()
    assert directory.segment_path(0).read_bytes() == b"one\ntwo\n"


def test_a_segment_is_continued_at_its_end(directory: AuditDirectory) -> None:
    """What is there is never written over."""
    directory.segment_path(0).write_bytes(b"one\n")
    segment = SegmentFile(directory, 0, 4)
    segment.write(b"two\n")
    segment.sync()
    segment.close()
    assert directory.segment_path(0).read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("damage", ["delete", "replace", "truncate", "grow", "remove directory"])
def test_a_file_taken_away_under_the_writer_is_noticed(
    directory: AuditDirectory, tmp_path: Path, damage: str
) -> None:
    """A sync into a deleted file succeeds, and nobody would ever read it."""
    segment = SegmentFile(directory, 0, 0)
    segment.write(b"one\n")
    segment.sync()
    path = directory.segment_path(0)
    if damage == "delete":
        path.unlink()
    elif damage == "replace":
        path.rename(tmp_path / "elsewhere")
        shutil.copy(tmp_path / "elsewhere", path)
    elif damage == "truncate":
        os.truncate(path, 2)
    elif damage == "grow":
        with path.open("ab") as file:
            file.write(b"somebody else's\n")
    else:
        shutil.rmtree(directory.path)
    with pytest.raises(OSError):
        segment.sync()
    assert segment.synced == 4
    segment.close()


def test_a_closed_segment_leaves_no_open_file(directory: AuditDirectory) -> None:
    """A log that rotates each day runs for years."""
    before = count_open_files()
    SegmentFile(directory, 0, 0).close()
    assert count_open_files() == before
