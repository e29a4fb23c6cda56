"""The log in files: durability, group commit, rotation, retention, redaction, failing disks."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.files.log_files import open_log
from amplifier_audit.files.value_store import ValueStore
from amplifier_audit.format.checkpoint import Note, parse_notes
from amplifier_audit.reader.inclusion import find_newest_checkpoint, prove_inclusion
from amplifier_audit.reader.records import follow, read_records
from amplifier_audit.reader.values import reveal
from amplifier_audit.reader.verification import verify
from amplifier_audit.writer import record_queue
from amplifier_audit.writer.anchors import anchor_to_file, anchor_to_stderr
from amplifier_audit.writer.log import AuditLog
from amplifier_audit.writer.settings import AuditSettings
from amplifier_core.trail import AuditSink
from tests.audit.support import FAST, SIGNER, VERIFIER, write_log


async def wait_for_writer_thread() -> None:
    """The thread of a log that was given up ends by itself."""
    for thread in threading.enumerate():
        if thread.name == "audit-writer":
            await asyncio.to_thread(thread.join, 5)


def types(path: Path) -> list[str]:
    return [record["type"] for record in read_records(open_log(path))]


def bodies(path: Path, type: str) -> list[Any]:
    return [record["body"] for record in read_records(open_log(path)) if record["type"] == type]


def slowly(real: Callable[[int], None], pause: float) -> Callable[[int], None]:
    """A sync that takes its time."""

    def sync(descriptor: int) -> None:
        time.sleep(pause)
        real(descriptor)

    return sync


async def test_what_was_committed_is_in_the_file_before_commit_returns(tmp_path: Path) -> None:
    """A record is acknowledged after the sync."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    assert isinstance(log, AuditSink)
    sequence = log.append("approval_requested", {"prompt": "?"}, session="s")
    await log.commit(sequence)
    (record,) = (r for r in read_records(open_log(tmp_path / "log")) if r["seq"] == sequence)
    assert record["body"] == {"prompt": "?"}
    assert log.durable > sequence
    await log.close()


async def test_a_log_begins_with_its_opening_and_a_checkpoint(tmp_path: Path) -> None:
    """Log id chosen at creation; the first signature stands near the start."""
    await write_log(tmp_path / "log", 1, signer=SIGNER)
    assert types(tmp_path / "log")[:2] == ["log_opened", "checkpoint"]
    assert bodies(tmp_path / "log", "log_opened")[0]["key"] == SIGNER.public
    report = verify(tmp_path / "log", key=VERIFIER)
    assert (report.verdict, report.signed) == ("consistent", 2)


async def test_many_waiters_share_one_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Durable acknowledgement, 100 concurrent waiters: shares one sync."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(checkpoint_seconds=60))
    syncs = 0
    real = os.fsync

    def counting(descriptor: int) -> None:
        nonlocal syncs
        syncs += 1
        time.sleep(0.02)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", counting)

    async def one() -> None:
        await log.commit(log.append("tool_started", {}))

    await asyncio.gather(*(one() for _ in range(100)))
    assert syncs <= 3
    monkeypatch.undo()
    await log.close()


async def test_the_loop_runs_on_while_the_disk_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing blocks the event loop."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    real = os.fsync
    monkeypatch.setattr(os, "fsync", slowly(real, 0.2))
    waiting = asyncio.create_task(log.commit(log.append("tool_started", {})))
    beats = 0
    while not waiting.done():
        await asyncio.sleep(0.005)
        beats += 1
    assert beats > 10
    monkeypatch.undo()
    await log.close()


async def test_records_nobody_waits_for_reach_the_file_soon(tmp_path: Path) -> None:
    """Everything else is appended first and synced with its group."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(checkpoint_seconds=0.05))
    log.append("dispatch", {"n": 1})
    for _ in range(200):
        await asyncio.sleep(0.01)
        if "dispatch" in types(tmp_path / "log") and log.durable > 2:
            break
    assert types(tmp_path / "log")[-2:] == ["dispatch", "checkpoint"]
    await log.close()


async def test_a_checkpoint_stands_after_every_thousand_records_and_each_session(
    tmp_path: Path,
) -> None:
    """Written every 1,000 records, every second of activity, at each session end, each seal."""
    settings = AuditSettings(checkpoint_every=10, checkpoint_seconds=60)
    log = await AuditLog.open(tmp_path / "log", settings)
    for _ in range(25):
        log.append("dispatch", {})
    log.append("session_ended", {})
    await log.close()
    kinds = types(tmp_path / "log")
    assert kinds.count("checkpoint") == 4
    assert kinds[-2:] == ["session_ended", "checkpoint"]


async def test_reopening_goes_on_with_the_same_log(tmp_path: Path) -> None:
    """One writer per log; sequence goes on."""
    await write_log(tmp_path / "log", 5)
    await write_log(tmp_path / "log", 5)
    records = list(read_records(open_log(tmp_path / "log")))
    assert [r["seq"] for r in records] == list(range(len(records)))
    assert len({r["log"] for r in records}) == 1
    assert verify(tmp_path / "log").verdict == "consistent"


async def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """One writer: whole-file lock held for the life of the writer."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    with pytest.raises(AuditUnavailable, match="Another writer"):
        await AuditLog.open(tmp_path / "log", FAST)
    await log.close()
    await write_log(tmp_path / "log", 1)


async def test_a_forked_child_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One writer per log, and a child is another one."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: 1)
        with pytest.raises(AuditUnavailable, match="belongs to process"):
            log.append("dispatch", {})
    await log.close()


async def test_a_closed_log_takes_nothing_and_closing_again_is_harmless(tmp_path: Path) -> None:
    """Raises AuditUnavailable once the log has ended."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    await log.close()
    await log.close()
    with pytest.raises(AuditUnavailable, match="closed"):
        log.append("dispatch", {})


async def test_a_record_that_was_never_appended_cannot_be_waited_for(tmp_path: Path) -> None:
    """Nothing hangs."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    with pytest.raises(AuditError, match="no record 99"):
        await log.commit(99)
    await log.commit(0)
    await log.close()


async def test_rotation_seals_and_goes_on(tmp_path: Path) -> None:
    """Last record "sealed"; the next segment's first record repeats size and root."""
    await write_log(tmp_path / "log", 60, AuditSettings(segment_bytes=5000), signer=SIGNER)
    log = open_log(tmp_path / "log")
    assert len(log.paths) > 3
    for path in log.paths[:-1]:
        last = list(read_records(open_log(path)))[-1]
        assert last["type"] == "sealed"
    for path in log.paths[1:]:
        first = next(read_records(open_log(path)))
        assert first["type"] == "log_opened"
        assert first["body"]["previous"]["size"] == first["seq"]
    report = verify(tmp_path / "log", key=VERIFIER)
    assert (report.verdict, report.finding) == ("consistent", None)


async def test_rotation_by_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new segment begins each day, in UTC."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    monkeypatch.setattr(record_queue, "find_today", lambda: 99)
    await log.commit(log.append("dispatch", {}))
    await log.close()
    assert len(open_log(tmp_path / "log").paths) == 2


async def test_retention_removes_whole_segments_and_the_rest_still_verifies(tmp_path: Path) -> None:
    """Retention deletes whole sealed segments, keeps their sealing checkpoints, is recorded."""
    settings = AuditSettings(segment_bytes=4000, retain_segments=2)
    await write_log(tmp_path / "log", 80, settings, signer=SIGNER)
    log = open_log(tmp_path / "log")
    assert log.numbers[0] is not None
    assert log.numbers[0] > 0
    assert len(list((tmp_path / "log" / "sealed").glob("*.note"))) == log.numbers[-1]
    report = verify(tmp_path / "log", key=VERIFIER)
    assert (report.verdict, report.finding) == ("consistent", None)
    assert report.first > 0
    note = find_newest_checkpoint(log)
    assert note is not None
    assert verify(tmp_path / "log", anchors=[note]).verdict == "proven"


async def test_the_record_of_an_early_removal_may_itself_be_removed(tmp_path: Path) -> None:
    """No false alarm: a later removal speaks for the earlier ones (found by killing writers)."""
    settings = AuditSettings(segment_bytes=1500, retain_segments=1)
    for _ in range(8):
        await write_log(tmp_path / "log", 10, settings)
    log = open_log(tmp_path / "log")
    told = [r["body"]["segment"] for r in read_records(log) if r["type"] == "segment_removed"]
    assert 0 not in told
    report = verify(tmp_path / "log")
    assert (report.verdict, report.finding) == ("consistent", None)


async def test_removed_segments_without_their_seal_or_record_are_found(tmp_path: Path) -> None:
    """T23: somebody removes the beginning."""
    settings = AuditSettings(segment_bytes=4000)
    await write_log(tmp_path / "log", 40, settings)
    (tmp_path / "log" / "00000000.jsonl").unlink()
    report = verify(tmp_path / "log")
    assert report.verdict == "tampered"
    assert report.finding is not None
    assert report.finding.kind == "missing segment"
    shutil.rmtree(tmp_path / "log" / "sealed")
    report = verify(tmp_path / "log")
    assert report.finding is not None
    assert "so is its seal" in report.finding.message


async def test_a_missing_middle_segment_is_a_gap(tmp_path: Path) -> None:
    """T23: deletions."""
    await write_log(tmp_path / "log", 60, AuditSettings(segment_bytes=4000))
    first = next(read_records(open_log(tmp_path / "log" / "00000001.jsonl")))["seq"]
    (tmp_path / "log" / "00000001.jsonl").unlink()
    report = verify(tmp_path / "log")
    assert report.finding is not None
    assert (report.finding.kind, report.finding.sequence) == ("gap", first)


async def test_anchors_get_every_checkpoint(tmp_path: Path, capsys: Any) -> None:
    """Every checkpoint goes into the file, the state, and to a sink outside the directory."""
    seen: list[Note] = []

    def failing(note: Note) -> None:
        raise OSError("no network")

    log = await AuditLog.open(
        tmp_path / "log",
        FAST,
        signer=SIGNER,
        anchors=(anchor_to_file(tmp_path / "anchors"), anchor_to_stderr, failing, seen.append),
    )
    note = await log.checkpoint()
    assert log.newest_checkpoint == note
    await log.close()
    notes = parse_notes((tmp_path / "anchors").read_text())
    assert notes == seen
    assert note in notes
    assert f"\n{note.checkpoint.size}\n" in capsys.readouterr().err
    report = verify(tmp_path / "log", key=VERIFIER, anchors=notes)
    assert (report.verdict, report.proven_to) == ("proven", notes[-1].checkpoint.size)


async def test_values_are_kept_aside_and_revealed(tmp_path: Path) -> None:
    """Prompts, inputs, results and injected text go in as salted commitments."""
    settings = AuditSettings(values="committed")
    log = await AuditLog.open(tmp_path / "log", settings)
    secret = "hunter2 is the password"
    body = {"tool": "Bash", "input": {"command": secret}, "hooks": [{"prompt": secret}], "text": ""}
    await log.commit(log.append("tool_started", body))
    await log.commit(log.append("tool_started", body))
    await log.close()
    assert secret.encode() not in (tmp_path / "log" / "00000000.jsonl").read_bytes()
    one, two = bodies(tmp_path / "log", "tool_started")
    assert one["tool"] == "Bash"
    assert one["text"] == ""
    assert one["input"]["$commitment"] != two["input"]["$commitment"]
    assert one["hooks"][0]["prompt"]["media_type"] == "text/plain"
    found = list(reveal(read_records(open_log(tmp_path / "log")), tmp_path / "log" / "values.db"))
    assert [r["body"] for r in found if r["type"] == "tool_started"] == [body, body]


async def test_after_redacting_everything_the_chain_verifies_and_no_secret_is_in_any_file(
    tmp_path: Path,
) -> None:
    """Redaction deletes value and salt and appends a "redacted" record naming who and why."""
    settings = AuditSettings(values="committed", checkpoint_every=10, checkpoint_seconds=60)
    secrets = [f"secret-number-{n}-of-many" for n in range(30)]
    log = await AuditLog.open(tmp_path / "log", settings, signer=SIGNER)
    for secret in secrets:
        log.append("tool_finished", {"output": secret, "nested": {"prompt": [secret]}})
    await log.commit()
    told = bodies(tmp_path / "log", "tool_finished")
    named = [one["output"]["$commitment"] for one in told]
    named += [one["nested"]["prompt"]["$commitment"] for one in told]
    for commitment in named:
        await log.redact(commitment, by="ann", reason="privacy")
    with pytest.raises(AuditError, match="Nothing is kept"):
        await log.redact(named[0], by="ann", reason="again")
    await log.close()
    assert verify(tmp_path / "log", key=VERIFIER).verdict == "consistent"
    everything = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert not [secret for secret in secrets if secret.encode() in everything]
    first = bodies(tmp_path / "log", "redacted")[0]
    assert first == {"commitment": named[0], "by": "ann", "reason": "privacy"}
    records = reveal(read_records(open_log(tmp_path / "log")), tmp_path / "log" / "values.db")
    (shown, *_) = [r["body"] for r in records if r["type"] == "tool_finished"]
    assert shown["output"]["redacted"] is True


async def test_a_redaction_that_a_crash_interrupted_is_finished(tmp_path: Path) -> None:
    """The value must not survive its own redaction."""
    settings = AuditSettings(values="committed")
    log = await AuditLog.open(tmp_path / "log", settings)
    await log.commit(log.append("user_message", {"text": "very secret"}))
    await log.close()
    (body,) = bodies(tmp_path / "log", "user_message")
    commitment = body["text"]["$commitment"]
    store = ValueStore(tmp_path / "log" / "values.db")
    store.begin_redaction({"commitment": commitment, "by": "ann", "reason": "r"})
    store.close()
    await write_log(tmp_path / "log", 1)
    store = ValueStore(tmp_path / "log" / "values.db")
    assert (store.get(commitment), store.list_unfinished_redactions()) == (None, [])
    store.close()
    assert bodies(tmp_path / "log", "redacted")[0]["by"] == "ann"


async def test_a_side_store_that_fails_ends_the_log(tmp_path: Path) -> None:
    """Nothing hangs: no durable value, no acknowledgement."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(values="committed"))
    blocker = sqlite3.connect(tmp_path / "log" / "values.db")
    blocker.execute("DROP TABLE kept")
    blocker.close()
    with pytest.raises(AuditUnavailable, match=r"side store|no such table"):
        await log.commit(log.append("user_message", {"text": "secret"}))
    await log.close()


async def test_a_disk_that_never_answers_does_not_hang_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing hangs."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(sync_timeout=0.05))
    release = threading.Event()
    real = os.fsync

    def hanging(descriptor: int) -> None:
        release.wait(20)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", hanging)
    log.append("dispatch", {})
    with pytest.raises(AuditUnavailable, match="does not answer"):
        await log.close()
    release.set()
    await wait_for_writer_thread()


async def test_a_reader_that_asks_for_the_lock_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    """Reading disturbs no writer."""
    import fcntl

    await write_log(tmp_path / "log", 1)
    reader = os.open(tmp_path / "log", os.O_RDONLY)
    fcntl.flock(reader, fcntl.LOCK_SH)
    timer = threading.Timer(0.01, os.close, [reader])
    timer.start()
    await write_log(tmp_path / "log", 1)
    timer.join()


async def test_an_inline_log_cannot_be_redacted_and_says_so(tmp_path: Path) -> None:
    """Inline mode is an option for people who want plain text."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    with pytest.raises(AuditError, match="committed"):
        await log.redact("x", by="a", reason="b")
    await log.close()


def test_a_value_opens_its_commitment_and_no_other_does(tmp_path: Path) -> None:
    """Salted commitments (at least 128 bits of salt)."""
    from amplifier_audit.writer.commitments import commit_to

    kept = commit_to({"a": 1})
    assert len(kept.salt) == 16
    assert kept.is_genuine()
    store = ValueStore(tmp_path / "values.db")
    store.add([kept])
    assert store.get(kept.commitment) == kept
    assert store.delete(kept.commitment)
    assert not store.delete(kept.commitment)
    store.close()
    with pytest.raises(AuditError, match="side store"):
        ValueStore(tmp_path / "no" / "values.db")


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Break a system call for the writer thread only."""

    def break_it(name: str, code: int) -> None:
        real = getattr(os, name)

        def call(*args: Any) -> Any:
            if threading.current_thread().name == "audit-writer":
                raise OSError(code, os.strerror(code))
            return real(*args)

        monkeypatch.setattr(os, name, call)

    yield break_it
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("call", "code"),
    [("write", errno.ENOSPC), ("write", errno.EROFS), ("fsync", errno.EIO), ("pwrite", errno.EIO)],
)
async def test_a_failing_disk_ends_the_log_and_nothing_is_acknowledged(
    tmp_path: Path, fails: Any, call: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T27: disk full, read-only, EIO on sync. A failed sync is final for that file."""
    alarms: list[str] = []
    log = await AuditLog.open(tmp_path / "log", FAST, alarm=alarms.append)
    await log.commit(log.append("dispatch", {"n": 1}))
    before = log.durable
    fails(call, code)
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


async def test_after_a_failed_sync_the_next_writer_begins_a_new_segment(
    tmp_path: Path, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No retry on the same descriptor; new segment after operator or supervisor action."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    await log.commit(log.append("dispatch", {"n": 1}))
    real = os.fsync
    broken = True

    def call(descriptor: int) -> None:
        if broken and threading.current_thread().name == "audit-writer":
            raise OSError(errno.EIO, "I/O error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", call)
    with pytest.raises(AuditUnavailable):
        await log.commit(log.append("dispatch", {"n": 2}))
    broken = False
    await log.close()
    (tmp_path / "log" / "failed").write_text("I/O error")
    await write_log(tmp_path / "log", 1)
    assert not (tmp_path / "log" / "failed").exists()
    assert len(open_log(tmp_path / "log").paths) == 2
    (recovery,) = bodies(tmp_path / "log", "recovered")
    assert recovery["why"] == "a sync failed"
    assert recovery["quarantined"][0]["bytes"] > 0
    report = verify(tmp_path / "log")
    assert (report.verdict, report.finding) == ("recovered", None)


@pytest.mark.parametrize("damage", ["delete", "replace", "truncate", "remove directory"])
async def test_a_file_taken_away_under_the_writer_is_noticed(tmp_path: Path, damage: str) -> None:
    """T27: file deleted under the writer, directory removed."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    path = tmp_path / "log" / "00000000.jsonl"
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


async def test_a_disk_that_hangs_is_not_waited_for_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T27: sink hangs 60 s. No durable record, no execution."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(sync_timeout=0.05))
    release = threading.Event()
    real = os.fsync

    def hanging(descriptor: int) -> None:
        release.wait(20)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", hanging)
    with pytest.raises(AuditUnavailable, match=r"0\.05 s"):
        await log.commit(log.append("approval_requested", {}))
    release.set()
    await log.commit(log.append("approval_requested", {}))
    await log.close()


async def test_a_backlog_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is no place to keep a trail that the disk does not take."""
    release = threading.Event()
    log = await AuditLog.open(tmp_path / "log", AuditSettings(backlog_bytes=10_000))
    real = os.write

    def hanging(descriptor: int, content: Any) -> int:
        if threading.current_thread().name == "audit-writer":
            release.wait(20)
        return real(descriptor, content)

    monkeypatch.setattr(os, "write", hanging)

    def flood() -> None:
        for _ in range(1000):
            log.append("dispatch", {"text": "x" * 500})

    with pytest.raises(AuditUnavailable, match="too slow"):
        flood()
    release.set()
    await log.close()
    assert verify(tmp_path / "log").verdict == "consistent"


async def test_cancelling_a_waiter_harms_nobody(tmp_path: Path) -> None:
    """T26: cancellation leaks."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    waiters = [asyncio.create_task(log.commit(log.append("dispatch", {}))) for _ in range(50)]
    await asyncio.sleep(0)
    for waiter in waiters[::2]:
        waiter.cancel()
    done = await asyncio.gather(*waiters, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in done[::2])
    assert done[1::2] == [None] * 25
    await log.close()


def test_a_loop_that_ends_while_somebody_waits_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T26: close the loop."""
    log = AuditLog(tmp_path / "log", FAST)
    real = os.fsync
    monkeypatch.setattr(os, "fsync", slowly(real, 0.1))

    async def leave() -> None:
        task = asyncio.create_task(log.commit(log.append("dispatch", {})))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(leave())
    asyncio.run(log.commit(log.append("dispatch", {})))
    monkeypatch.undo()
    log.close_now()
    assert verify(tmp_path / "log").verdict == "consistent"


async def test_appending_from_many_threads_keeps_one_chain(tmp_path: Path) -> None:
    """Gapless sequence."""
    log = await AuditLog.open(tmp_path / "log", FAST)

    def many() -> None:
        for number in range(200):
            log.append("dispatch", {"n": number})

    await asyncio.gather(*(asyncio.to_thread(many) for _ in range(4)))
    await log.close()
    report = verify(tmp_path / "log")
    assert (report.verdict, report.size > 800) == ("consistent", True)


@pytest.mark.parametrize(
    "options",
    [
        {"checkpoint_every": 0},
        {"checkpoint_every": 1001},
        {"retain_segments": 0},
        {"level": "loud"},
        {"on_failure": None},
        {"values": "secret"},
        {"sync_timeout": 0},
        {"sync_timeout": float("nan")},
        {"segment_bytes": -1},
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(AuditError, match="got"):
        AuditSettings(**options)


async def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """Missing permissions: one clear sentence."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(AuditUnavailable, match="Cannot make"):
        await AuditLog.open(tmp_path / "file" / "log")
    with pytest.raises(AuditUnavailable, match="Cannot make"):
        await AuditLog.open(tmp_path / "file")


async def test_following_a_log_crosses_segments(tmp_path: Path) -> None:
    """Reading a log that is being written works."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(segment_bytes=2000))
    pauses = [0.001] * 2000
    lines = follow(tmp_path / "log", wait=lambda _: time.sleep(pauses.pop()))
    for number in range(20):
        log.append("dispatch", {"n": number})
    await log.commit()

    def first_twenty() -> list[int]:
        found: list[int] = []
        while len(found) < 20:
            record = next(lines)
            if record["type"] == "dispatch":
                found.append(record["body"]["n"])
        return found

    assert await asyncio.to_thread(first_twenty) == list(range(20))
    await log.close()


async def test_verifying_while_it_is_written_raises_no_alarm(tmp_path: Path) -> None:
    """Reading a log that is being written works."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings(segment_bytes=20_000))
    stop = False

    async def write() -> None:
        while not stop:
            for _ in range(20):
                log.append("dispatch", {"text": "y" * 300})
            await asyncio.sleep(0.005)

    writing = asyncio.create_task(write())
    for _ in range(8):
        report = await asyncio.to_thread(verify, tmp_path / "log")
        assert report.verdict == "consistent", report
    stop = True
    await writing
    await log.close()


async def test_a_record_is_proven_to_be_in_the_log(tmp_path: Path) -> None:
    """Inclusion proof for one record, also after retention."""
    from amplifier_audit.format.proof import compute_inclusion_root
    from amplifier_audit.format.tree import hash_leaf

    settings = AuditSettings(segment_bytes=4000, retain_segments=2)
    await write_log(tmp_path / "log", 60, settings)
    log = open_log(tmp_path / "log")
    note = find_newest_checkpoint(log)
    assert note is not None
    records = [r["seq"] for r in read_records(log) if r["seq"] < note.checkpoint.size]
    for sequence in records:
        line, proof = prove_inclusion(log, sequence, note)
        root = compute_inclusion_root(sequence, note.checkpoint.size, hash_leaf(line), proof)
        assert root == note.checkpoint.root
    with pytest.raises(AuditError, match="begins at"):
        prove_inclusion(log, 0, note)
    with pytest.raises(AuditError, match="covers records"):
        prove_inclusion(log, 10_000, note)


async def test_putting_back_yesterdays_copy_is_found_only_by_an_anchor(tmp_path: Path) -> None:
    """T23: rollback to yesterday, against an anchor: detected; never "proven" without one."""
    log, anchors = tmp_path / "log", tmp_path / "anchors"
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.copytree(log, tmp_path / "yesterday")
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.rmtree(log)
    shutil.copytree(tmp_path / "yesterday", log)
    notes = parse_notes(anchors.read_text())
    assert verify(log, key=VERIFIER).verdict == "consistent"
    report = verify(log, key=VERIFIER, anchors=notes)
    assert report.verdict == "tampered"
    assert report.finding is not None
    assert (report.finding.kind, report.finding.sequence) == ("cut below anchor", report.size)


async def test_a_fork_after_the_copy_is_found_by_the_anchor(tmp_path: Path) -> None:
    """T23: two histories, both signed with the stolen key."""
    log, anchors = tmp_path / "log", tmp_path / "anchors"
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.copytree(log, tmp_path / "fork")
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    await write_log(tmp_path / "fork", 30, signer=SIGNER)
    notes = parse_notes(anchors.read_text())
    assert verify(log, key=VERIFIER, anchors=notes).verdict == "proven"
    assert verify(tmp_path / "fork", key=VERIFIER).verdict == "consistent"
    report = verify(tmp_path / "fork", key=VERIFIER, anchors=notes)
    assert report.finding is not None
    assert (report.verdict, report.finding.kind) == ("tampered", "fork")
