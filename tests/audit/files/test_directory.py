"""The directory of a log: names, the lock, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import AuditUnavailable, NotALog
from amplifier_audit.log_directory import (
    AuditDirectory,
    raise_unavailable,
    sync_directory,
    write_all,
    write_file,
)
from tests.audit.support import count_open_files


def test_each_file_has_its_name(tmp_path: Path) -> None:
    """The names of the documentation, and nothing outside the directory."""
    log = AuditDirectory(tmp_path)
    assert log.segment_path(0) == tmp_path / "00000000.jsonl"
    assert log.seal_path(12) == tmp_path / "sealed" / "00000012.note"
    assert [log.state.name, log.values.name, log.failed.name, log.quarantine.name] == [
        "state",
        "values.db",
        "failed",
        "quarantine",
    ]


def test_segments_are_listed_in_order_and_nothing_else_is(tmp_path: Path) -> None:
    """Files that somebody left there are no part of the log."""
    names = ["00000010.jsonl", "00000002.jsonl", "state", "0000003.jsonl", "0000000x.jsonl"]
    for name in [*names, "00000004.json", "٠٠٠٠٠٠٠١.jsonl", "00000005.jsonl.partial"]:
        (tmp_path / name).touch()
    assert AuditDirectory(tmp_path).list_segments() == [2, 10]


@given(st.integers(0, 99_999_999))
def test_a_segment_is_found_under_the_name_that_it_is_given(number: int) -> None:
    """Writing and listing agree on what a name means."""
    path = AuditDirectory(Path("/log")).segment_path(number)
    assert len(path.stem) == 8
    assert int(path.stem) == number


def test_a_directory_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """And nobody writes it."""
    with pytest.raises(NotALog, match="Cannot read"):
        AuditDirectory(tmp_path / "none").list_segments()
    assert not AuditDirectory(tmp_path / "none").is_being_written()
    with pytest.raises(AuditUnavailable, match="Cannot open"):
        AuditDirectory(tmp_path / "none").lock()


def test_a_new_directory_is_for_its_owner_only(tmp_path: Path) -> None:
    """What people and models wrote is nobody else's business."""
    log = AuditDirectory(tmp_path / "a" / "log")
    log.create()
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o700
    log.create()


def test_the_names_of_a_new_directory_and_of_its_parents_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a crash could take the whole log; where nothing is new, nothing is synced."""
    synced: list[Path] = []
    monkeypatch.setattr("amplifier_audit.log_directory.sync_directory", synced.append)
    log = AuditDirectory(tmp_path / "a" / "b" / "log")
    log.create()
    assert synced == [tmp_path / "a" / "b", tmp_path / "a", tmp_path]
    log.create()
    assert len(synced) == 3


def test_a_directory_is_made_also_where_its_parent_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There its name cannot be synced."""

    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("amplifier_audit.log_directory.sync_directory", refuse)
    log = AuditDirectory(tmp_path / "log")
    log.create()
    assert log.path.is_dir()


def test_a_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    """A file in its place, or on the way."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "log"):
        with pytest.raises(AuditUnavailable, match="Cannot make the audit directory"):
            AuditDirectory(path).create()


def test_one_writer_at_a_time_has_the_log(tmp_path: Path) -> None:
    """A second one is refused until the first one lets go."""
    log = AuditDirectory(tmp_path)
    assert not log.is_being_written()
    held = log.lock()
    assert log.is_being_written()
    with pytest.raises(AuditUnavailable, match="Another writer has the log"):
        log.lock()
    os.close(held)
    assert not log.is_being_written()
    os.close(log.lock())


def test_a_lock_that_was_refused_leaves_no_open_file(tmp_path: Path) -> None:
    """A supervisor that tries again and again does not run out of descriptors."""
    log = AuditDirectory(tmp_path)
    held = log.lock()
    before = count_open_files()
    with pytest.raises(AuditUnavailable):
        log.lock()
    assert count_open_files() == before
    os.close(held)


def test_closing_another_file_of_the_directory_does_not_end_the_lock(tmp_path: Path) -> None:
    """As it would with the record locks of POSIX."""
    log = AuditDirectory(tmp_path)
    held = log.lock()
    os.close(os.open(tmp_path, os.O_RDONLY))
    assert log.is_being_written()
    os.close(held)


def test_a_reader_that_asks_for_the_lock_does_not_keep_a_writer_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader holds it for a moment only, so the writer tries again."""
    reader = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            os.close(reader)

    monkeypatch.setattr("time.sleep", pause)
    os.close(AuditDirectory(tmp_path).lock())
    assert pauses == [0.0, 0.005, 0.02]


def test_where_locks_do_not_work_nobody_is_said_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network volumes have none; reading works there all the same."""

    def fail(*args: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    assert not AuditDirectory(tmp_path).is_being_written()
    with pytest.raises(AuditUnavailable):
        AuditDirectory(tmp_path).lock()


def test_many_readers_may_ask_at_the_same_time(tmp_path: Path) -> None:
    """Two who verify do not take each other for a writer."""
    reader = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    assert not AuditDirectory(tmp_path).is_being_written()
    os.close(reader)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """For its owner only, with nothing left beside it, in a folder that may not be there yet."""
    path = tmp_path / "sealed" / "one"
    write_file(path, b"old and long")
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["one"]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_file_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Half a file never stands under its name."""
    path = tmp_path / "one"
    write_file(path, b"old")

    def fail(*args: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="full"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"


def test_everything_is_written_however_little_goes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system may take less than it was given."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, content: real(file, bytes(content[:3])))
    descriptor = os.open(tmp_path / "one", os.O_WRONLY | os.O_CREAT)
    write_all(descriptor, b"0123456789")
    write_all(descriptor, b"")
    os.close(descriptor)
    assert (tmp_path / "one").read_bytes() == b"0123456789"


def test_the_names_in_a_directory_are_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a sync of the directory itself, whose descriptor is closed again."""
    synced: list[bool] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(stat.S_ISDIR(os.fstat(file).st_mode))
    )
    before = count_open_files()
    sync_directory(tmp_path)
    assert synced == [True]
    assert count_open_files() == before


def test_what_the_system_refuses_becomes_one_sentence() -> None:
    """Other exceptions pass as they are."""
    with (
        pytest.raises(AuditUnavailable, match=r"^Cannot open it: No space left on device$"),
        raise_unavailable("open it"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with (
        pytest.raises(AuditUnavailable, match=r"^Cannot open it: odd$"),
        raise_unavailable("open it"),
    ):
        raise OSError("odd")
    with pytest.raises(KeyError), raise_unavailable("open it"):
        raise KeyError("x")


def test_what_only_a_writer_leaves_is_a_trace_of_a_log(tmp_path: Path) -> None:
    """Segments aside: those may all be gone."""
    directory = AuditDirectory(tmp_path)
    (tmp_path / "00000000.jsonl").touch()
    (tmp_path / "sealed").mkdir()
    (tmp_path / "values.db").touch()
    assert directory.list_traces() == []
    for path in (directory.state, directory.failed, directory.seal_path(3)):
        path.touch()
    assert len(directory.list_traces()) == 3


def test_why_a_writer_gave_up_can_be_read(tmp_path: Path) -> None:
    """Whatever somebody wrote there; nothing, if it did not."""
    directory = AuditDirectory(tmp_path)
    assert directory.read_failure() is None
    directory.failed.write_bytes(b"disk\xff full" + b"x" * 5000)
    assert directory.read_failure() == "disk\ufffd full" + "x" * 990
    directory.failed.write_bytes(b"")
    assert directory.read_failure() == "unknown"
    directory.failed.unlink()
    directory.failed.mkdir()
    assert directory.read_failure() == "unknown: Is a directory"
