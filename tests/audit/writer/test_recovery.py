"""What a writer does with the log that it finds."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import AuditDirectory, open_log
from amplifier_audit.own_records import LogBroken, LogRecovered
from amplifier_audit.reader import read_records
from amplifier_audit.record import Head
from amplifier_audit.recovery import Opening, recover
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import State, read_state
from amplifier_audit.verification import verify
from tests.audit.support import (
    acknowledge,
    count_open_files,
    extend_log,
    feed_lines,
    first_segment,
    locate,
    make_anchor,
    make_lines,
    read_bodies,
    reopen,
    write_lines,
    write_log,
    write_state,
)


def read_lines(path: Path) -> list[bytes]:
    return first_segment(path).read_bytes().splitlines(keepends=True)


def append(path: Path, content: bytes) -> None:
    with first_segment(path).open("ab") as file:
        file.write(content)


# A log that is whole


def test_an_empty_directory_is_a_new_log(tmp_path: Path) -> None:
    """With an id of its own, from the first byte of the first segment."""
    opening = recover(AuditDirectory(tmp_path))
    assert (opening.head, opening.segment, opening.offset) == (Head(), 0, 0)
    assert (opening.records, opening.alarm) == ((), None)
    assert opening.log != recover(AuditDirectory(tmp_path)).log


async def test_a_log_that_was_closed_is_continued_where_it_ended(tmp_path: Path) -> None:
    """Nothing is said about it."""
    await write_log(tmp_path, 5)
    state = read_state(tmp_path / "state")
    assert state is not None
    opening = recover(AuditDirectory(tmp_path))
    assert opening == Opening(state.log, state.head, 0, state.offset)


def test_a_segment_that_was_sealed_is_not_continued(tmp_path: Path) -> None:
    """The next one begins."""
    lines = make_lines(3)
    sealed = extend_log(lines, "sealed", {"note": make_anchor(lines, 3).text})
    write_lines(tmp_path, sealed)
    head = acknowledge(tmp_path, sealed, 4)
    opening = recover(AuditDirectory(tmp_path))
    assert (opening.head, opening.segment, opening.offset) == (head, 1, 0)
    # Also if its writer died before it could acknowledge the seal.
    acknowledge(tmp_path, sealed, 2)
    assert recover(AuditDirectory(tmp_path)) == opening


# What a crash leaves


async def test_a_torn_tail_goes_to_quarantine_and_the_log_says_so(tmp_path: Path) -> None:
    """With its name, its length and its digest; nothing is lost, and no alarm is raised."""
    await write_log(tmp_path, 5)
    append(tmp_path, b'{"v":1,"log":"torn')
    before = verify(tmp_path)
    assert (before.verdict, locate(before)[0]) == ("recovered", "torn tail")
    alarms, report = reopen(tmp_path)
    assert (alarms, report.verdict) == ([], "recovered")
    (body,) = read_bodies(tmp_path, "recovered")
    (kept,) = body["quarantined"]
    assert kept["bytes"] == 18
    assert (tmp_path / "quarantine" / kept["file"]).read_bytes() == b'{"v":1,"log":"torn'


async def test_whole_records_after_the_acknowledged_position_are_kept(tmp_path: Path) -> None:
    """Only damage is taken off."""
    await write_log(tmp_path, 5)
    state = read_state(tmp_path / "state")
    assert state is not None
    acknowledge(tmp_path, read_lines(tmp_path), 3)
    opening = recover(AuditDirectory(tmp_path))
    assert opening == Opening(state.log, state.head, 0, state.offset)


async def test_torn_bytes_are_safe_before_they_are_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy, its name and the name of its folder are synced first; then the cut is, too."""
    await write_log(tmp_path, 2)
    append(tmp_path, b"torn")
    calls, names = list[str](), dict[int, str]()
    real_open, real_sync, real_cut = os.open, os.fsync, os.ftruncate

    def open_file(path: Path, *args: Any) -> int:
        file = real_open(path, *args)
        names[file] = path.name
        return file

    def sync(file: int) -> None:
        calls.append(f"sync {names[file]}")
        real_sync(file)

    def cut(file: int, size: int) -> None:
        calls.append("cut")
        real_cut(file, size)

    for name, call in (("open", open_file), ("fsync", sync), ("ftruncate", cut)):
        monkeypatch.setattr(os, name, call)
    before = count_open_files()
    recover(AuditDirectory(tmp_path))
    copied = ["sync 00000000-5-0.bin.partial", "sync quarantine", f"sync {tmp_path.name}"]
    assert calls == [*copied, "cut", "sync 00000000.jsonl"]
    assert count_open_files() == before


async def test_two_crashes_in_a_row_quarantine_both(tmp_path: Path) -> None:
    """Neither file replaces the other."""
    await write_log(tmp_path, 2)
    for content in (b"one", b"two"):
        append(tmp_path, content)
        recover(AuditDirectory(tmp_path))
    opening = recover(AuditDirectory(tmp_path))
    (recovered,) = opening.records
    assert isinstance(recovered, LogRecovered)
    names = [one["file"] for one in recovered.facts["quarantined"]]
    assert names == ["00000000-5-0.bin", "00000000-5-1.bin"]
    assert [(tmp_path / "quarantine" / n).read_bytes() for n in names] == [b"one", b"two"]


async def test_a_quarantine_that_was_told_of_is_not_told_again(tmp_path: Path) -> None:
    """Each recovery speaks of what is new."""
    await write_log(tmp_path, 2)
    append(tmp_path, b"torn")
    reopen(tmp_path)
    assert recover(AuditDirectory(tmp_path)).records == ()


async def test_a_missing_state_is_noted_and_a_torn_line_still_recovered(tmp_path: Path) -> None:
    """Nobody knows what was acknowledged; only a torn last line is taken for a crash."""
    await write_log(tmp_path, 5)
    (tmp_path / "state").unlink()
    append(tmp_path, b"{")
    assert verify(tmp_path).verdict == "recovered"
    alarms, report = reopen(tmp_path)
    assert (alarms, report.verdict) == ([], "recovered")
    assert read_bodies(tmp_path, "recovered")[0]["state"] == "missing"


async def test_a_missing_state_is_no_alarm_where_retention_removed_the_beginning(
    tmp_path: Path,
) -> None:
    """The first segment that is there says what it goes on from."""
    await write_log(tmp_path, 60, AuditSettings(segment_bytes=4000, retain_segments=1))
    state = read_state(tmp_path / "state")
    assert state is not None
    assert AuditDirectory(tmp_path).list_segments()[0] > 0
    (tmp_path / "state").unlink()
    opening = recover(AuditDirectory(tmp_path))
    assert (opening.log, opening.head) == (state.log, state.head)
    assert opening.records == (LogRecovered(facts={"state": "missing"}),)


async def test_a_log_that_died_while_it_was_born_begins_anew(tmp_path: Path) -> None:
    """Killed at its first write, or before it."""
    first_segment(tmp_path).write_bytes(b'{"v":1,"lo')
    alarms, report = reopen(tmp_path)
    assert (alarms, report.verdict) == ([], "recovered")
    (tmp_path / "two").mkdir()
    first_segment(tmp_path / "two").touch()
    alarms, report = reopen(tmp_path / "two")
    assert (alarms, report.verdict) == ([], "consistent")


async def test_a_segment_that_died_while_it_was_born_is_begun_again(tmp_path: Path) -> None:
    """Killed between the seal of one and the first record of the next."""
    await write_log(tmp_path, 30, AuditSettings(segment_bytes=4000))
    *earlier, last = open_log(tmp_path).paths
    state = read_state(tmp_path / "state")
    assert state is not None
    lines = [line for path in earlier for line in path.read_bytes().splitlines(keepends=True)]
    size = earlier[-1].stat().st_size
    for torn in (None, b"", b'{"v"'):
        write_state(tmp_path, State(state.log, state.segment - 1, size, feed_lines(lines).head))
        if torn is None:
            last.unlink()
        else:
            last.write_bytes(torn)
        opening = recover(AuditDirectory(tmp_path))
        assert (opening.segment, opening.offset, opening.alarm) == (state.segment, 0, None)
    alarms, report = reopen(tmp_path)
    assert (alarms, report.finding) == ([], None)


def test_pages_lost_by_the_machine_are_recovered(tmp_path: Path) -> None:
    """What was not synced may be lost in any part: zeros, old bytes, nothing."""
    chance = random.Random(4)
    log = AuditLog(tmp_path, AuditSettings(checkpoint_seconds=60))
    for number in range(40):
        log.append("dispatch", {"n": number, "text": "z" * 200})
    log.close_now()
    lines = read_lines(tmp_path)
    content = b"".join(lines)
    for _ in range(60):
        synced = chance.randrange(3, len(lines) - 1)
        offset = sum(map(len, lines[:synced]))
        lossy = bytearray(content)
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(offset, len(content))
            end = min(len(content), start + chance.randrange(1, 600))
            lossy[start:end] = bytes(end - start)
        end = chance.choice([len(content), chance.randrange(offset, len(content))])
        first_segment(tmp_path).write_bytes(lossy[:end])
        acknowledge(tmp_path, lines, synced)
        assert verify(tmp_path).verdict in ("consistent", "recovered")
        opening = recover(AuditDirectory(tmp_path))
        assert opening.alarm is None
        assert opening.head.size >= synced
        shutil.rmtree(tmp_path / "quarantine", ignore_errors=True)


# After a failed sync


@pytest.mark.parametrize("gone", [0, 1])
async def test_after_a_failed_sync_everything_not_acknowledged_is_set_aside(
    tmp_path: Path, gone: int
) -> None:
    """The cache may show what the disk does not have, over several segments, or not all of it."""
    await write_log(tmp_path, 30, AuditSettings(segment_bytes=4000))
    lines = read_lines(tmp_path)
    acknowledge(tmp_path, lines, 3)
    for number in range(1, 1 + gone):
        (tmp_path / f"{number:08d}.jsonl").unlink()
    later = [path.read_bytes() for path in open_log(tmp_path).paths[1:]]
    (tmp_path / "failed").write_text("I/O error")
    opening = recover(AuditDirectory(tmp_path))
    assert (opening.segment, opening.offset, opening.head.size) == (1, 0, 3)
    (recovered,) = opening.records
    assert isinstance(recovered, LogRecovered)
    assert recovered.facts["why"] == "a sync failed"
    assert AuditDirectory(tmp_path).list_segments() == [0]
    assert read_lines(tmp_path) == lines[:3]
    kept = [
        (tmp_path / "quarantine" / one["file"]).read_bytes()
        for one in recovered.facts["quarantined"]
    ]
    assert kept == [b"".join(lines[3:]), *later]


# What somebody did


@pytest.mark.parametrize("how", ["cut", "edit last", "empty", "delete", "replace"])
async def test_damage_before_the_acknowledged_position_is_not_repaired(
    tmp_path: Path, how: str
) -> None:
    """The file stays as it is; a new segment begins with what was found; once there is an alarm."""
    await write_log(tmp_path / "other", 9)
    await write_log(tmp_path / "log", 9)
    path = first_segment(tmp_path / "log")
    content = path.read_bytes()
    if how == "cut":
        path.write_bytes(b"".join(content.splitlines(keepends=True)[:-1]))
    elif how == "edit last":
        path.write_bytes(content[:-5] + (b"1" if content[-5:-4] == b"0" else b"0") + content[-4:])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "delete":
        path.unlink()
    else:
        shutil.copy(first_segment(tmp_path / "other"), path)
    damaged = path.read_bytes() if path.exists() else None
    alarms, report = reopen(tmp_path / "log")
    assert len(alarms) == 1
    assert report.verdict == "tampered"
    assert (path.read_bytes() if path.exists() else None) == damaged
    first = next(read_records(open_log(tmp_path / "log" / "00000001.jsonl")))
    assert first["type"] == "broken"
    assert first["body"]["expected"]["size"] == first["seq"]
    again, _ = reopen(tmp_path / "log")
    assert again == []


async def test_without_a_state_damage_inside_is_broken(tmp_path: Path) -> None:
    """Nothing is repaired that a crash cannot have done."""
    await write_log(tmp_path, 5)
    (tmp_path / "state").unlink()
    lines = read_lines(tmp_path)
    write_lines(tmp_path, [*lines[:3], *lines[4:]])
    assert recover(AuditDirectory(tmp_path)).segment == 1
    alarms, report = reopen(tmp_path)
    assert len(alarms) == 1
    assert report.verdict == "tampered"
    assert locate(report) == ("gap", 3)


async def test_a_long_line_in_the_middle_is_no_torn_end(tmp_path: Path) -> None:
    """Without a state only the end of the file can be torn."""
    await write_log(tmp_path, 5)
    (tmp_path / "state").unlink()
    lines = read_lines(tmp_path)
    write_lines(tmp_path, [*lines[:3], b"x" * 100_000, *lines[3:]])
    assert verify(tmp_path).verdict == "tampered"
    alarms, _ = reopen(tmp_path)
    assert len(alarms) == 1


async def test_damage_in_a_segment_that_is_not_the_last_is_broken(tmp_path: Path) -> None:
    """A writer begins another one only after the last is whole."""
    await write_log(tmp_path, 30, AuditSettings(segment_bytes=4000))
    lines = read_lines(tmp_path)
    acknowledge(tmp_path, lines, 3)
    write_lines(tmp_path, [*lines[:5], b"x\n", *lines[5:]])
    opening = recover(AuditDirectory(tmp_path))
    assert opening.alarm is not None
    assert opening.segment == AuditDirectory(tmp_path).list_segments()[-1] + 1
    (broken,) = opening.records
    assert isinstance(broken, LogBroken)
    assert broken.found is not None
    assert broken.found["size"] == 5


async def test_a_state_whose_segments_are_all_gone_is_broken(tmp_path: Path) -> None:
    """The log goes on by its own id, in the segment after the last that it knew."""
    await write_log(tmp_path, 5)
    state = read_state(tmp_path / "state")
    assert state is not None
    first_segment(tmp_path).unlink()
    opening = recover(AuditDirectory(tmp_path))
    assert (opening.log, opening.segment, opening.alarm) == (state.log, 1, "all segments are gone")


async def test_a_state_whose_segment_is_gone_is_broken(tmp_path: Path) -> None:
    """Others are there; the last one, with what was acknowledged, is not."""
    await write_log(tmp_path, 30, AuditSettings(segment_bytes=4000))
    *_, last = open_log(tmp_path).paths
    last.unlink()
    opening = recover(AuditDirectory(tmp_path))
    assert opening.alarm == f"segment {last.name} is gone"
    alarms, report = reopen(tmp_path)
    assert (len(alarms), report.verdict) == (1, "tampered")


@pytest.mark.parametrize("changes", [{"prev": "é"}, {"body": {}}, {"body": {"previous": 5}}])
async def test_a_beginning_that_says_nothing_useful_is_broken(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """The first segments are gone, and so is the state, and the rest was forged."""
    await write_log(tmp_path, 30, AuditSettings(segment_bytes=4000))
    path = tmp_path / "00000001.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    forged = json.dumps({**json.loads(first), **changes}, separators=(",", ":")).encode()
    path.write_bytes(b"".join([forged + b"\n", *rest]))
    first_segment(tmp_path).unlink()
    (tmp_path / "state").unlink()
    alarms, report = reopen(tmp_path)
    assert len(alarms) == 1
    assert report.verdict == "tampered"
