"""A disk that is full, broken, hanging or taken away: nothing is acknowledged that is not there."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.keys import create_key
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from tests.audit.support import (
    FAST,
    HeldCall,
    break_call,
    first_segment,
    read_bodies,
    write_log,
)


@pytest.mark.parametrize(
    ("call", "code"),
    [("write", errno.ENOSPC), ("write", errno.EROFS), ("fsync", errno.EIO), ("pwrite", errno.EIO)],
)
async def test_a_failing_disk_ends_the_log_and_nothing_is_acknowledged(
    tmp_path: Path, call: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Full, read-only or broken: the first failure is final, and one alarm tells of it."""
    alarms: list[str] = []
    log = await AuditLog.open(tmp_path, FAST, alarm=alarms.append)
    await log.commit(log.append("dispatch", {"n": 1}))
    before = log.durable
    break_call(monkeypatch, call, code)
    sequence = log.append("approval_decided", {})
    with pytest.raises(AuditUnavailable, match=os.strerror(code)):
        await log.commit(sequence)
    monkeypatch.undo()
    with pytest.raises(AuditUnavailable):
        log.append("dispatch", {})
    with pytest.raises(AuditUnavailable):
        await log.commit(sequence)
    assert log.durable == before
    assert log.failure is not None
    assert len(alarms) == 1
    await log.close()


async def test_a_failure_is_noted_for_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins a new segment: the cache may show what the disk does not have."""
    log = await AuditLog.open(tmp_path, FAST)
    await log.commit(log.append("dispatch", {"n": 1}))
    with monkeypatch.context() as broken:
        break_call(broken, "pwrite", errno.EIO)
        with pytest.raises(AuditUnavailable):
            await log.commit(log.append("dispatch", {"n": 2}))
        await log.close()
    assert (tmp_path / "failed").read_text() == os.strerror(errno.EIO)
    await write_log(tmp_path, 1)
    assert not (tmp_path / "failed").exists()
    assert len(open_log(tmp_path).paths) == 2
    (recovery,) = read_bodies(tmp_path, "recovered")
    assert recovery["why"] == "a sync failed"
    assert recovery["quarantined"][0]["bytes"] > 0
    report = verify(tmp_path)
    assert (report.verdict, report.finding) == ("recovered", None)


async def test_a_failure_that_cannot_even_be_noted_is_still_an_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes nothing takes no note either."""
    alarms: list[str] = []
    log = await AuditLog.open(tmp_path, FAST, alarm=alarms.append)
    break_call(monkeypatch, "write", errno.ENOSPC)
    break_call(monkeypatch, "open", errno.ENOSPC)
    with pytest.raises(AuditUnavailable):
        await log.commit(log.append("dispatch", {}))
    monkeypatch.undo()
    await log.close()
    assert not (tmp_path / "failed").exists()
    assert len(alarms) == 1
    assert "has failed: No space left" in alarms[0]


@pytest.mark.parametrize("damage", ["delete", "replace", "truncate", "remove directory"])
async def test_a_file_taken_away_under_the_writer_is_noticed(tmp_path: Path, damage: str) -> None:
    """Before anybody acts on a record that nobody could ever read."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    path = first_segment(tmp_path / "log")
    if damage == "delete":
        path.unlink()
    elif damage == "replace":
        path.rename(tmp_path / "elsewhere")
        shutil.copy(tmp_path / "elsewhere", path)
    elif damage == "truncate":
        os.truncate(path, 10)
    else:
        shutil.rmtree(tmp_path / "log")
    with pytest.raises(AuditUnavailable):
        await log.commit(log.append("approval_decided", {}))
    await log.close()


@pytest.mark.parametrize("what", ["segment", "state", "folder", "key"])
@pytest.mark.parametrize("asked", [True, False])
async def test_whatever_is_taken_from_the_log_ends_it(
    tmp_path: Path, what: str, asked: bool
) -> None:
    """At the next sync, or when somebody asks; the mark and one alarm say what it was."""
    key = tmp_path / "key"
    create_key(key)
    alarms: list[str] = []
    log = await AuditLog.open(tmp_path / "log", FAST, alarm=alarms.append, watch=[key])
    assert log.find_loss() is None
    paths = {
        "segment": first_segment(tmp_path / "log"),
        "state": tmp_path / "log" / "state",
        "folder": tmp_path / "log",
        "key": key,
    }
    paths[what].rename(tmp_path / "elsewhere")
    reason = f"{paths[what].name} is gone"
    if asked:
        assert log.find_loss() == reason
    else:
        with pytest.raises(AuditUnavailable, match="is gone"):
            await log.commit(log.append("dispatch", {}))
    assert log.find_loss() == log.failure
    with pytest.raises(AuditUnavailable):
        log.append("dispatch", {})
    await log.close()
    assert len(alarms) == 1
    assert "is gone" in (tmp_path / "log" / "failed").read_text()
    report = verify(tmp_path / "log")
    assert report.failed is not None
    assert report.verdict == ("tampered" if what in ("segment", "folder") else "recovered")


async def test_the_reason_of_a_failure_stays_in_the_log(tmp_path: Path) -> None:
    """Whoever puts the files back does not undo that they were gone."""
    log = await AuditLog.open(tmp_path, FAST)
    first_segment(tmp_path).rename(tmp_path / "elsewhere")
    assert log.find_loss() == "00000000.jsonl is gone"
    await log.close()
    (tmp_path / "elsewhere").rename(first_segment(tmp_path))
    await write_log(tmp_path, 1)
    (recovery,) = read_bodies(tmp_path, "recovered")
    assert recovery["reason"] == "00000000.jsonl is gone"
    assert verify(tmp_path).verdict == "recovered"


async def test_a_disk_that_fails_took_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two kinds of failure; only one of them is somebody's doing."""
    log = await AuditLog.open(tmp_path, FAST)
    break_call(monkeypatch, "fsync", errno.EIO)
    with pytest.raises(AuditUnavailable):
        await log.commit(log.append("dispatch", {}))
    monkeypatch.undo()
    assert (log.find_loss(), log.failure) == (None, os.strerror(errno.EIO))
    await log.close()
    assert log.find_loss() is None


async def test_a_disk_that_hangs_is_not_waited_for_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits is told; when the disk answers, the log goes on."""
    log = await AuditLog.open(tmp_path, AuditSettings(sync_timeout=0.3))
    sync = HeldCall(monkeypatch, "fsync")
    with pytest.raises(AuditUnavailable, match=r"0\.3 s"):
        await log.commit(log.append("approval_requested", {}))
    sync.release()
    await log.commit(log.append("approval_requested", {}))
    await log.close()
    assert verify(tmp_path).verdict == "consistent"
