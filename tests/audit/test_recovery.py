"""What a writer does with the log that it finds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.errors import NotALog
from amplifier_audit.files.directory import AuditDirectory
from amplifier_audit.files.log_files import open_log
from amplifier_audit.files.state import SLOT, State, StateFile, read_state
from amplifier_audit.format.chain import Head
from amplifier_audit.reader.records import read_records
from amplifier_audit.reader.report import Report
from amplifier_audit.reader.verification import verify
from amplifier_audit.writer.log import AuditLog
from amplifier_audit.writer.recovery import recover
from amplifier_audit.writer.settings import AuditSettings
from tests.audit.cuts import Cutter
from tests.audit.support import write_log

ROOT = Path(__file__).parents[2]


def reopened(path: Path) -> tuple[list[str], Report]:
    """Open and close the log; the alarms, and what a verifier says then."""
    alarms: list[str] = []
    AuditLog(path, AuditSettings(), alarm=alarms.append).close_now()
    return alarms, verify(path)


def segment(path: Path) -> Path:
    return path / "00000000.jsonl"


async def test_a_torn_tail_goes_to_quarantine_and_the_log_says_so(tmp_path: Path) -> None:
    """Damage after the acknowledged position: quarantine, truncate, append "recovered"."""
    await write_log(tmp_path, 5)
    with segment(tmp_path).open("ab") as file:
        file.write(b'{"v":1,"log":"torn')
    before = verify(tmp_path)
    assert before.verdict == "recovered"
    assert before.finding is not None
    assert before.finding.kind == "torn tail"
    alarms, report = reopened(tmp_path)
    assert (alarms, report.verdict) == ([], "recovered")
    (body,) = (r["body"] for r in read_records(open_log(tmp_path)) if r["type"] == "recovered")
    (kept,) = body["quarantined"]
    assert (kept["bytes"], (tmp_path / "quarantine" / kept["file"]).read_bytes()) == (
        18,
        b'{"v":1,"log":"torn',
    )


async def test_whole_records_after_the_acknowledged_position_are_kept(tmp_path: Path) -> None:
    """Only damage is taken off."""
    await write_log(tmp_path, 5)
    state = read_state(tmp_path / "state")
    assert state is not None
    lines = segment(tmp_path).read_bytes().splitlines(keepends=True)
    (tmp_path / "state").unlink()
    file = StateFile(tmp_path / "state")
    head = recover_head(lines, 3)
    file.write(State(state.log, 0, sum(map(len, lines[:3])), head))
    file.close()
    assert recover(AuditDirectory(tmp_path)).head == state.head


def recover_head(lines: list[bytes], count: int) -> Head:
    from amplifier_audit.reader.line_verifier import LineVerifier

    verifier = LineVerifier()
    for line in lines[:count]:
        verifier.feed(line)
    return verifier.head


@pytest.mark.parametrize("how", ["cut", "edit last", "empty", "delete", "replace"])
async def test_damage_before_the_acknowledged_position_is_not_repaired(
    tmp_path: Path, how: str
) -> None:
    """Do not append, do not repair; new segment whose first record is "broken"; the alarm."""
    await write_log(tmp_path / "other", 9)
    await write_log(tmp_path / "log", 9)
    path = segment(tmp_path / "log")
    content = path.read_bytes()
    if how == "cut":
        path.write_bytes(b"".join(content.splitlines(keepends=True)[:-1]))
    elif how == "edit last":
        path.write_bytes(content[:-5] + b"0" + content[-4:])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "delete":
        path.unlink()
    else:
        shutil.copy(segment(tmp_path / "other"), path)
    damaged = path.read_bytes() if path.exists() else None
    alarms, report = reopened(tmp_path / "log")
    assert len(alarms) == 1
    assert report.verdict == "tampered"
    assert (path.read_bytes() if path.exists() else None) == damaged
    first = next(read_records(open_log(tmp_path / "log" / "00000001.jsonl")))
    assert first["type"] == "broken"
    assert first["body"]["expected"]["size"] == first["seq"]
    again, _ = reopened(tmp_path / "log")
    assert again == []


async def test_a_missing_state_is_noted_and_a_torn_line_still_recovered(tmp_path: Path) -> None:
    """Nobody knows what was acknowledged; only a torn last line is taken for a crash."""
    await write_log(tmp_path, 5)
    (tmp_path / "state").unlink()
    with segment(tmp_path).open("ab") as file:
        file.write(b"{")
    assert verify(tmp_path).verdict == "recovered"
    alarms, report = reopened(tmp_path)
    assert (alarms, report.verdict) == ([], "recovered")


async def test_without_a_state_damage_inside_is_broken(tmp_path: Path) -> None:
    """Nothing is repaired that a crash cannot have done."""
    await write_log(tmp_path, 5)
    (tmp_path / "state").unlink()
    lines = segment(tmp_path).read_bytes().splitlines(keepends=True)
    segment(tmp_path).write_bytes(b"".join([*lines[:3], *lines[4:]]))
    alarms, report = reopened(tmp_path)
    assert len(alarms) == 1
    assert report.verdict == "tampered"
    assert report.finding is not None
    assert (report.finding.kind, report.finding.sequence) == ("gap", 3)


async def test_a_log_that_died_while_it_was_born_begins_anew(tmp_path: Path) -> None:
    """kill -9 at the first write."""
    (tmp_path / "00000000.jsonl").write_bytes(b'{"v":1,"lo')
    alarms, report = reopened(tmp_path)
    assert (alarms, report.verdict) == ([], "recovered")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "00000000.jsonl").touch()
    alarms, report = reopened(tmp_path / "two")
    assert (alarms, report.verdict) == ([], "consistent")


async def test_a_segment_that_died_while_it_was_born_is_begun_again(tmp_path: Path) -> None:
    """Rotation survives a kill between the seal and the next segment."""
    await write_log(tmp_path, 30, AuditSettings(segment_bytes=4000))
    last = open_log(tmp_path).paths[-1]
    previous = open_log(tmp_path).paths[-2]
    lines = previous.read_bytes().splitlines(keepends=True)
    state = read_state(tmp_path / "state")
    assert state is not None
    everything = [
        line
        for path in open_log(tmp_path).paths[:-1]
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    for torn in (None, b"", b'{"v"'):
        (tmp_path / "state").unlink()
        file = StateFile(tmp_path / "state")
        head = recover_head(everything, len(everything))
        file.write(State(state.log, state.segment - 1, sum(map(len, lines)), head))
        file.close()
        if torn is None:
            last.unlink()
        else:
            last.write_bytes(torn)
        opening = recover(AuditDirectory(tmp_path))
        assert (opening.segment, opening.offset, opening.alarm) == (state.segment, 0, None)
    alarms, report = reopened(tmp_path)
    assert (alarms, report.finding) == ([], None)


def test_a_state_survives_a_torn_slot(tmp_path: Path) -> None:
    """Two slots in turn; a torn one fails its checksum, and the other one still stands."""
    file = StateFile(tmp_path / "state")
    for size in (0, 1, 2):
        file.write(State("ab", 0, size, Head(0)))
    file.close()
    assert read_state(tmp_path / "state") == State("ab", 0, 2, Head(0))
    content = bytearray((tmp_path / "state").read_bytes())
    content[SLOT + 100] ^= 1
    (tmp_path / "state").write_bytes(content)
    found = read_state(tmp_path / "state")
    assert found is not None
    assert found.offset == 1
    (tmp_path / "state").write_bytes(b"nonsense")
    assert read_state(tmp_path / "state") is None
    assert read_state(tmp_path / "none") is None


@pytest.mark.parametrize("data", [None, [], {}, {"log": "a"}, {"head": {}}, 5])
def test_what_is_no_saved_position_is_refused(data: Any) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(ValueError):
        State.from_dict(data)


def test_cuts_of_a_small_log_is_recovered_or_reported(tmp_path: Path) -> None:
    """Every byte cut (of a 1 MB log by `python -m tests.audit.cuts --bytes 1000000`)."""
    cutter = Cutter(tmp_path, 1)
    cutter.run(step=19)
    assert cutter.cuts > 100
    assert cutter.wrong == []


def run_program(name: str, *arguments: str, timeout: float) -> dict[str, Any]:
    """A program of the tests, which prints one line of JSON."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.audit.{name}", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_killing_the_writer_loses_nothing_and_raises_no_alarm() -> None:
    """kill -9 at random and at every write and sync: 0 acknowledged lost, 0 false alarms."""
    result = run_program("crash_points", "--points", "60", "--seed", "3", timeout=55)
    assert (result["points"], result["problems"]) == (60, [])


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_killing_the_writer_ten_thousand_times() -> None:
    """10,000 points, 0 acknowledged records lost, 0 false alarms."""
    result = run_program("crash_points", "--points", "10000", timeout=7000)
    assert (result["points"], result["problems"]) == (10_000, [])


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_byte_cut_of_a_large_log_is_recovered_or_reported() -> None:
    """Every byte cut of a 1 MB log: recovered or reported exactly."""
    result = run_program("cuts", "--bytes", "1000000", timeout=7000)
    assert result["cuts"] > 1_000_000
    assert result["problems"] == []


def test_pages_lost_by_the_machine_are_recovered(tmp_path: Path) -> None:
    """Writes that were not synced may be lost in any part: zeros, old bytes, nothing."""
    import random

    chance = random.Random(4)
    log = AuditLog(tmp_path / "log", AuditSettings(checkpoint_seconds=60))
    for number in range(40):
        log.append("dispatch", {"n": number, "text": "z" * 200})
    log.close_now()
    content = segment(tmp_path / "log").read_bytes()
    lines = content.splitlines(keepends=True)
    state = read_state(tmp_path / "log" / "state")
    assert state is not None
    for _ in range(60):
        synced = chance.randrange(3, len(lines) - 1)
        offset = sum(map(len, lines[:synced]))
        lossy = bytearray(content)
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(offset, len(content))
            end = min(len(content), start + chance.randrange(1, 600))
            lossy[start:end] = bytes(end - start)
        end = chance.choice([len(content), chance.randrange(offset, len(content))])
        segment(tmp_path / "log").write_bytes(lossy[:end])
        (tmp_path / "log" / "state").unlink()
        file = StateFile(tmp_path / "log" / "state")
        file.write(State(state.log, 0, offset, recover_head(lines, synced)))
        file.close()
        assert verify(tmp_path / "log").verdict in ("consistent", "recovered")
        opening = recover(AuditDirectory(tmp_path / "log"))
        assert opening.alarm is None
        assert opening.head.size >= synced
        shutil.rmtree(tmp_path / "log" / "quarantine", ignore_errors=True)


def test_a_directory_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(NotALog, match="Cannot read"):
        AuditDirectory(tmp_path / "none").list_segments()
    assert not AuditDirectory(tmp_path / "none").is_being_written()


async def test_a_long_line_in_the_middle_is_no_torn_end(tmp_path: Path) -> None:
    """Without a state only the end of the file can be torn."""
    await write_log(tmp_path, 5)
    (tmp_path / "state").unlink()
    lines = segment(tmp_path).read_bytes().splitlines(keepends=True)
    segment(tmp_path).write_bytes(b"".join([*lines[:3], b"x" * 100_000, *lines[3:]]))
    report = verify(tmp_path)
    assert report.verdict == "tampered"
    alarms, _ = reopened(tmp_path)
    assert len(alarms) == 1


async def test_another_history_of_the_same_length_contradicts_the_state(tmp_path: Path) -> None:
    """The writer's own state is no anchor, but a log that contradicts it is not whole."""
    await write_log(tmp_path / "one", 5)
    await write_log(tmp_path / "two", 5)
    shutil.copy(segment(tmp_path / "two"), segment(tmp_path / "one"))
    report = verify(tmp_path / "one")
    assert report.verdict == "tampered"
    assert report.finding is not None
    assert (report.finding.kind, report.finding.byte is not None) == ("fork", True)


async def test_segments_that_were_renamed_or_stripped_are_found(tmp_path: Path) -> None:
    """T23: somebody removes the beginning."""
    await write_log(tmp_path, 5)
    lines = segment(tmp_path).read_bytes().splitlines(keepends=True)
    segment(tmp_path).rename(tmp_path / "00000004.jsonl")
    report = verify(tmp_path)
    assert report.finding is not None
    assert report.finding.kind == "missing segment"
    (tmp_path / "00000004.jsonl").write_bytes(b"".join(lines[3:]))
    report = verify(tmp_path)
    assert report.finding is not None
    assert "lost its beginning" in report.finding.message


async def test_a_line_that_is_just_being_written_is_no_damage(tmp_path: Path) -> None:
    """Reading a log that is being written works."""
    log = await AuditLog.open(tmp_path, AuditSettings())
    with segment(tmp_path).open("ab") as file:
        file.write(b'{"v":1,"lo')
    report = verify(tmp_path)
    assert report.verdict == "consistent"
    assert report.notes == ("the last line is just being written",)
    await log.close()


async def test_one_segment_alone_says_what_it_cannot_know(tmp_path: Path) -> None:
    """Say exactly what is proven."""
    await write_log(tmp_path, 40, AuditSettings(segment_bytes=4000))
    report = verify(tmp_path / "00000001.jsonl")
    assert report.verdict == "consistent"
    assert "nothing is known of the first" in report.notes[0]


def test_a_segment_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """Bad input gets a clear sentence."""
    (tmp_path / "00000000.jsonl").mkdir()
    with pytest.raises(NotALog, match="Cannot read"):
        verify(tmp_path)
