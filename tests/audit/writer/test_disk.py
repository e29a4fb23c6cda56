"""Batches on disk, in an order that a crash may interrupt anywhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.checkpoint import parse_note
from amplifier_audit.disk import Disk
from amplifier_audit.encoding import encode_body
from amplifier_audit.line_maker import RecordQueue, commit_to
from amplifier_audit.log_directory import AuditDirectory
from amplifier_audit.own_records import LogRecovered
from amplifier_audit.record import Head
from amplifier_audit.recovery import Opening
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import read_state
from amplifier_audit.value_store import ValueStore
from amplifier_audit.verification import verify
from tests.audit.support import count_open_files, make_source

OPENING = Opening("ab", Head(), 0, 0)


@pytest.fixture
def directory(tmp_path: Path) -> AuditDirectory:
    return AuditDirectory(tmp_path)


@pytest.fixture
def queue(directory: AuditDirectory) -> RecordQueue:
    settings = AuditSettings(segment_bytes=1500, retain_segments=1)
    queue = RecordQueue(OPENING, settings, None, directory.list_segments)
    queue.add_opening()
    return queue


def add(queue: RecordQueue, count: int = 1, values: Any = ()) -> None:
    for _ in range(count):
        queue.add(make_source(), encode_body({"text": "x" * 20}), values)


def write(disk: Disk, queue: RecordQueue) -> None:
    batch = queue.take()
    disk.write(batch)
    disk.sync(batch)


def test_the_state_says_what_was_synced_and_no_more(
    directory: AuditDirectory, queue: RecordQueue
) -> None:
    """Written lines are in the file, and acknowledged only after the sync."""
    disk = Disk(directory, OPENING, None)
    assert disk.is_synced
    batch = queue.take()
    disk.write(batch)
    assert not disk.is_synced
    assert read_state(directory.state) is None
    disk.sync(batch)
    assert disk.is_synced
    state = read_state(directory.state)
    assert state is not None
    assert (state.log, state.segment, state.head) == ("ab", 0, batch.head)
    assert state.offset == directory.segment_path(0).stat().st_size
    disk.close()


def test_a_sync_hands_out_the_checkpoints_that_are_durable_now(
    directory: AuditDirectory, queue: RecordQueue
) -> None:
    """Also those of batches that were written before without a sync."""
    disk = Disk(directory, OPENING, None)
    first = queue.add_checkpoint()
    disk.write(queue.take())
    second = queue.add_checkpoint()
    batch = queue.take()
    disk.write(batch)
    assert disk.sync(batch) == [first.note, second.note]
    state = read_state(directory.state)
    assert state is not None
    assert second.note is not None
    assert state.checkpoint == second.note.text
    queue.add_own(LogRecovered(facts={}))
    batch = queue.take()
    disk.write(batch)
    assert disk.sync(batch) == []
    disk.close()


def test_a_segment_is_whole_and_sealed_before_the_next_has_a_name(
    directory: AuditDirectory, queue: RecordQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash in between leaves a log that can be continued."""
    disk = Disk(directory, OPENING, None)
    calls: list[str] = []
    real_open, real_sync = os.open, os.fsync
    names = {directory.segment_path(n).stat().st_ino: f"{n}" for n in directory.list_segments()}

    def watch_open(path: Any, *args: Any) -> int:
        calls.append(f"open {Path(path).name}")
        return real_open(path, *args)

    def watch_sync(file: int) -> None:
        calls.append(f"sync {names.get(os.fstat(file).st_ino, 'another')}")
        real_sync(file)

    monkeypatch.setattr(os, "open", watch_open)
    monkeypatch.setattr(os, "fsync", watch_sync)
    add(queue, 6)
    write(disk, queue)
    assert calls[:3] == ["sync 0", "open 00000000.note.partial", "sync another"]
    assert calls.index("open 00000001.jsonl") > 2
    seal = parse_note(directory.seal_path(0).read_text())
    lines = directory.segment_path(0).read_bytes().splitlines()
    assert seal.checkpoint.size == len(lines)
    disk.close()
    assert verify(directory.path).verdict == "consistent"


def test_values_are_durable_before_the_lines_that_name_them(
    directory: AuditDirectory, queue: RecordQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commitment whose value a crash took could never be opened."""
    store = ValueStore(directory.values)
    disk = Disk(directory, OPENING, store)
    value = commit_to("secret")
    add(queue, values=[value])
    real, found = os.write, list[bool]()

    def watch(file: int, content: Any) -> int:
        other = ValueStore(directory.values)
        found.append(other.get(value.commitment) == value)
        other.close()
        return real(file, content)

    monkeypatch.setattr(os, "write", watch)
    disk.write(queue.take())
    assert found == [True]
    monkeypatch.undo()
    disk.close()


def test_lines_are_synced_before_the_state_is_written(
    directory: AuditDirectory, queue: RecordQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is never ahead of the disk."""
    disk = Disk(directory, OPENING, None)
    calls: list[str] = []

    def record(name: str, real: Callable[..., Any], *args: Any) -> Any:
        calls.append(name)
        return real(*args)

    for name in ("write", "fsync", "pwrite"):
        monkeypatch.setattr(os, name, partial(record, name, getattr(os, name)))
    write(disk, queue)
    assert calls == ["write", "fsync", "pwrite"]
    calls.clear()
    queue.add_checkpoint()
    write(disk, queue)
    assert calls == ["write", "fsync", "pwrite", "fsync"]
    disk.close()


def test_surplus_segments_go_only_when_that_is_asked_for(
    directory: AuditDirectory, queue: RecordQueue
) -> None:
    """Their removal must be durable on record first; their seals stay."""
    disk = Disk(directory, OPENING, None)
    for _ in range(3):
        add(queue, 6)
        write(disk, queue)
    assert directory.list_segments()[0] == 0
    disk.remove_surplus()
    assert directory.list_segments()[0] > 0
    assert directory.seal_path(0).exists()
    disk.remove_surplus()
    disk.close()
    assert verify(directory.path).verdict == "consistent"


def test_a_state_that_cannot_be_opened_leaves_no_open_file(directory: AuditDirectory) -> None:
    """The segment, which was opened first, is closed again."""
    directory.state.mkdir()
    before = count_open_files()
    with pytest.raises(OSError, match="Is a directory"):
        Disk(directory, OPENING, None)
    assert count_open_files() == before


@pytest.mark.parametrize("at", range(7))
def test_a_rotation_that_fails_leaves_nothing_open_and_nothing_closed_twice(
    directory: AuditDirectory, queue: RecordQueue, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """A descriptor that is closed again may be somebody else's by then."""
    before, calls = count_open_files(), 0
    disk = Disk(directory, OPENING, None)
    real = os.fsync

    def fail(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls > at:
            raise OSError(5, "Input/output error")
        real(file)

    add(queue, 12)
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output error"):
            write(disk, queue)
    disk.close()
    assert count_open_files() == before


def test_closing_leaves_no_open_file(directory: AuditDirectory, queue: RecordQueue) -> None:
    """Segment, state and side store, after rotation too."""
    before = count_open_files()
    disk = Disk(directory, OPENING, ValueStore(directory.values))
    add(queue, 12)
    write(disk, queue)
    disk.close()
    assert count_open_files() == before
