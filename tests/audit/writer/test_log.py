"""The log in files: appending, committing, rotation, retention, redaction."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import line_maker
from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.keys import Ed25519Signer
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.own_records import ValueRedacted
from amplifier_audit.reader import find_newest_checkpoint, read_records
from amplifier_audit.settings import AuditSettings
from amplifier_audit.value_store import ValueStore, reveal
from amplifier_audit.verification import verify
from amplifier_core.trail import AuditSink
from tests.audit.support import (
    FAST,
    OTHER,
    SIGNER,
    VERIFIER,
    HeldCall,
    count_open_files,
    first_segment,
    read_all_files,
    read_bodies,
    read_types,
    reopen,
    write_log,
)

COMMITTED = AuditSettings(values="committed")


# Appending and committing


async def test_what_was_committed_is_in_the_file_before_commit_returns(tmp_path: Path) -> None:
    """Then, and only then, whoever waits may act on it."""
    log = await AuditLog.open(tmp_path / "log", FAST)
    assert isinstance(log, AuditSink)
    sequence = log.append("approval_requested", {"prompt": "?"}, session="s")
    await log.commit(sequence)
    (record,) = (r for r in read_records(open_log(tmp_path / "log")) if r["seq"] == sequence)
    assert record["body"] == {"prompt": "?"}
    assert log.durable > sequence
    await log.close()


async def test_committing_everything_waits_for_the_last_record(tmp_path: Path) -> None:
    """Without a sequence, all that was appended so far is meant."""
    log = await AuditLog.open(tmp_path, FAST)
    last = [log.append("dispatch", {"n": n}) for n in range(30)][-1]
    await log.commit()
    assert log.durable > last
    await log.commit()
    await log.close()


async def test_a_log_begins_with_its_opening_and_a_checkpoint(tmp_path: Path) -> None:
    """They are there before anybody gets the log, with the public key."""
    log = await AuditLog.open(tmp_path, FAST, signer=SIGNER)
    assert read_types(tmp_path) == ["log_opened", "checkpoint"]
    assert read_bodies(tmp_path, "log_opened")[0]["key"] == SIGNER.public
    assert next(read_records(open_log(tmp_path)))["log"] == log.log
    log.append("dispatch", {})
    await log.close()
    report = verify(tmp_path, key=VERIFIER)
    assert (report.verdict, report.signed) == ("consistent", 2)


async def test_a_checkpoint_stands_after_so_many_records_and_after_each_session(
    tmp_path: Path,
) -> None:
    """And one when the log is closed, if there is anything new."""
    settings = AuditSettings(checkpoint_every=10, checkpoint_seconds=60)
    log = await AuditLog.open(tmp_path, settings)
    for _ in range(25):
        log.append("dispatch", {})
    log.append("session_ended", {})
    await log.close()
    types = read_types(tmp_path)
    assert types.count("checkpoint") == 4
    assert types[-2:] == ["session_ended", "checkpoint"]


async def test_a_checkpoint_can_be_asked_for(tmp_path: Path) -> None:
    """It is durable when it is handed out."""
    log = await AuditLog.open(tmp_path, FAST, signer=SIGNER)
    log.append("dispatch", {})
    note = await log.checkpoint()
    assert note.checkpoint.size == 3
    assert note.is_signed_by(VERIFIER)
    assert log.newest_checkpoint == find_newest_checkpoint(open_log(tmp_path)) == note
    await log.close()


async def test_the_newest_checkpoint_is_known_as_soon_as_it_is_due(tmp_path: Path) -> None:
    """Whoever asks for it does not have to wait for the writer's next turn."""
    log = await AuditLog.open(tmp_path, AuditSettings(gather_seconds=60), signer=SIGNER)
    sequence = log.append("session_ended", {})
    note = log.newest_checkpoint
    assert note is not None
    assert note.checkpoint.size == sequence + 1
    assert note.is_signed_by(VERIFIER)
    await log.close()
    assert {"note": note.text} in read_bodies(tmp_path, "checkpoint")
    assert verify(tmp_path, key=VERIFIER, anchors=[note]).verdict == "proven"


class FailingSigner(Ed25519Signer):
    """One whose key is taken away in the end."""

    def sign(self, message: bytes) -> bytes:
        if message.split(b"\n")[1] != b"1":
            raise RuntimeError("the key is gone")
        return super().sign(message)


@pytest.mark.parametrize("asked", [True, False])
async def test_a_checkpoint_that_cannot_be_signed_ends_the_log(tmp_path: Path, asked: bool) -> None:
    """Whoever finds out: nothing that comes after it could be verified."""
    log = await AuditLog.open(tmp_path, FAST, signer=FailingSigner(bytes(range(32))))
    before = log.newest_checkpoint
    sequence = log.append("session_ended", {})
    if asked:
        assert log.newest_checkpoint == before
    with pytest.raises(AuditUnavailable, match="the key is gone"):
        await log.commit(sequence)
    assert log.failure == "the key is gone"
    assert (log.durable, log.newest_checkpoint) == (2, before)
    with pytest.raises(AuditUnavailable, match="the key is gone"):
        log.append("dispatch", {})
    await log.close()


async def test_a_body_is_recorded_as_it_was_when_it_was_appended(tmp_path: Path) -> None:
    """Lines are made later; what a caller changes meanwhile does not show in them."""
    log = await AuditLog.open(tmp_path, AuditSettings(gather_seconds=60))
    bodies = [{"n": [number, "é", float("nan")]} for number in range(5)]
    for body in bodies:
        log.append("dispatch", body)
        body["n"].clear()
    await log.close()
    expected = [{"n": [number, "é", {"$float": "nan"}]} for number in range(5)]
    assert read_bodies(tmp_path, "dispatch") == expected


async def test_a_record_has_the_time_at_which_it_was_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not the one at which it was written."""
    log = await AuditLog.open(tmp_path, AuditSettings(gather_seconds=60))
    with monkeypatch.context() as clock:
        clock.setattr(line_maker, "time_ns", lambda: 1_000_000_007)
        clock.setattr(line_maker, "monotonic_ns", lambda: 5_000)
        sequence = log.append("dispatch", {})
    await log.close()
    (record,) = (r for r in read_records(open_log(tmp_path)) if r["seq"] == sequence)
    assert (record["time"], record["mono"]) == ("1970-01-01T00:00:01.000000007Z", 5)


async def test_appending_from_many_threads_keeps_one_chain(tmp_path: Path) -> None:
    """Each record has its own place, without a gap."""
    log = await AuditLog.open(tmp_path, FAST)

    def append_many() -> list[int]:
        return [log.append("dispatch", {"n": number}) for number in range(200)]

    given = await asyncio.gather(*(asyncio.to_thread(append_many) for _ in range(4)))
    assert len({sequence for one in given for sequence in one}) == 800
    await log.close()
    report = verify(tmp_path)
    assert (report.verdict, report.size > 800) == ("consistent", True)


async def test_odd_values_never_make_appending_raise(tmp_path: Path) -> None:
    """Whatever a hook or a tool hands in, wherever."""
    log = await AuditLog.open(tmp_path, FAST)
    log.append("dispatch", {"n": float("nan"), "o": object(), "s": "\ud800", "b": b"\xff"})
    log.append(5, [1], session=object(), turn="x", event=b"", hook={}, registration=1.5)  # type: ignore[arg-type]
    log.append("checkpoint", {"note": "forged"})
    await log.close()
    assert verify(tmp_path).verdict == "consistent"
    assert read_types(tmp_path)[2:-1] == ["dispatch", "5", "x_checkpoint"]


async def test_a_record_that_was_never_appended_cannot_be_waited_for(tmp_path: Path) -> None:
    """Nobody waits for what will not come."""
    log = await AuditLog.open(tmp_path, FAST)
    with pytest.raises(AuditError, match="no record 99"):
        await log.commit(99)
    await log.commit(0)
    await log.close()


# Opening and closing


async def test_reopening_goes_on_with_the_same_log(tmp_path: Path) -> None:
    """The same id, and sequences that go on."""
    await write_log(tmp_path, 5)
    await write_log(tmp_path, 5)
    records = list(read_records(open_log(tmp_path)))
    assert [r["seq"] for r in records] == list(range(len(records)))
    assert len({r["log"] for r in records}) == 1
    assert verify(tmp_path).verdict == "consistent"


async def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    """Until the first one has closed."""
    log = await AuditLog.open(tmp_path, FAST)
    before = count_open_files()
    with pytest.raises(AuditUnavailable, match="Another writer"):
        await AuditLog.open(tmp_path, FAST)
    assert count_open_files() == before
    await log.close()
    await write_log(tmp_path, 1)


def is_refused_in_child(use: Callable[[], object]) -> bool:
    """Whether a forked process is told in time that the log is its parent's."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(5)
        code = 1
        try:
            use()
        except AuditUnavailable as error:
            code = 7 if "belongs to process" in str(error) else 2
        finally:
            os._exit(code)  # whatever it was, no second test run goes on
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 7


async def test_a_forked_child_is_refused(tmp_path: Path) -> None:
    """It shares the files, but not the thread that writes them."""
    log = await AuditLog.open(tmp_path, FAST)
    log.append("dispatch", {"by": "the parent"})
    assert is_refused_in_child(lambda: log.append("dispatch", {"by": "the child"}))
    await log.commit(log.append("dispatch", {"by": "the parent"}))
    await log.close()
    assert verify(tmp_path).verdict == "consistent"


@pytest.mark.parametrize("call", ["append", "commit", "checkpoint"])
async def test_a_child_does_not_wait_for_what_its_parent_was_doing(
    tmp_path: Path, call: str
) -> None:
    """A thread that held the lock when the process was forked is not there to release it."""
    log = await AuditLog.open(tmp_path, replace(FAST, gather_seconds=60))
    sequence = log.append("dispatch", {"by": "the parent"})

    def use() -> None:
        if call == "append":
            log.append("dispatch", {"by": "the child"})
        else:
            wait: Any = log.commit(sequence) if call == "commit" else log.checkpoint()
            wait.send(None)

    with log._queue.lock:
        assert is_refused_in_child(use)
    await log.close()
    assert verify(tmp_path).verdict == "consistent"


async def test_a_forked_child_may_not_wait_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would ever tell it."""
    log = await AuditLog.open(tmp_path, FAST)
    log.append("dispatch", {})
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: 1)
        with pytest.raises(AuditUnavailable, match="belongs to process"):
            await log.checkpoint()
    await log.close()


async def test_a_closed_log_takes_nothing_and_closing_again_is_harmless(tmp_path: Path) -> None:
    """Nothing is open any more, either."""
    before = count_open_files()
    log = await AuditLog.open(tmp_path, COMMITTED)
    await log.close()
    await log.close()
    assert count_open_files() == before
    with pytest.raises(AuditUnavailable, match="closed"):
        log.append("dispatch", {})
    with pytest.raises(AuditUnavailable, match="closed"):
        await log.checkpoint()


@pytest.mark.parametrize("signer", [OTHER, None], ids=["another", "none"])
async def test_a_log_has_one_key_for_its_whole_life(tmp_path: Path, signer: object) -> None:
    """The verifier relies on it: a log that changed its key would look re-sealed."""
    await write_log(tmp_path, 1, signer=SIGNER)
    with pytest.raises(AuditUnavailable, match="another key needs another directory"):
        await AuditLog.open(tmp_path, FAST, signer=signer)  # type: ignore[arg-type]
    await write_log(tmp_path, 1, signer=SIGNER)
    assert verify(tmp_path, key=VERIFIER).verdict == "consistent"


async def test_other_settings_may_be_chosen_each_time(tmp_path: Path) -> None:
    """With a key, too, the log stays one that verifies."""
    for every in (1, 1000, 7):
        settings = AuditSettings(checkpoint_every=every, checkpoint_seconds=60)
        await write_log(tmp_path, 20, settings, signer=SIGNER)
    assert verify(tmp_path, key=VERIFIER).verdict == "consistent"


async def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """A file in the place of the directory, or on the way to it."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(AuditUnavailable, match="Cannot make"):
        await AuditLog.open(tmp_path / "file" / "log")
    with pytest.raises(AuditUnavailable, match="Cannot make"):
        await AuditLog.open(tmp_path / "file")


async def test_a_log_that_cannot_be_opened_lets_go_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock, its files and its threads: a supervisor may try again and again."""
    files, threads = count_open_files(), set(threading.enumerate())
    (tmp_path / "state").mkdir()
    with pytest.raises(AuditUnavailable, match="Cannot open the audit log"):
        AuditLog(tmp_path, COMMITTED, anchors=(print,))
    (tmp_path / "state").rmdir()
    with monkeypatch.context() as broken:
        broken.setattr(os, "pwrite", lambda *args: (tmp_path / "none").stat())
        with pytest.raises(AuditUnavailable, match="Cannot write the audit log"):
            AuditLog(tmp_path, COMMITTED, anchors=(print,))
    assert count_open_files() == files
    assert set(threading.enumerate()) <= threads
    await write_log(tmp_path, 1)
    assert verify(tmp_path).verdict in ("consistent", "recovered")


# Rotation and retention


async def test_rotation_seals_and_goes_on(tmp_path: Path) -> None:
    """Each segment ends with its seal, and the next begins with the end of the one before."""
    await write_log(tmp_path, 60, AuditSettings(segment_bytes=5000), signer=SIGNER)
    log = open_log(tmp_path)
    assert len(log.paths) > 3
    for path in log.paths[:-1]:
        assert list(read_records(open_log(path)))[-1]["type"] == "sealed"
    for path in log.paths[1:]:
        first = next(read_records(open_log(path)))
        assert first["type"] == "log_opened"
        assert first["body"]["previous"]["size"] == first["seq"]
    report = verify(tmp_path, key=VERIFIER)
    assert (report.verdict, report.finding) == ("consistent", None)


async def test_rotation_by_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new segment begins each day, in UTC."""
    log = await AuditLog.open(tmp_path, FAST)
    monkeypatch.setattr(line_maker, "find_today", lambda: 99)
    await log.commit(log.append("dispatch", {}))
    await log.close()
    assert len(open_log(tmp_path).paths) == 2


async def test_retention_removes_whole_segments_and_the_rest_still_verifies(tmp_path: Path) -> None:
    """The seals of what is gone stay, and an anchor still proves the log."""
    settings = AuditSettings(segment_bytes=4000, retain_segments=2)
    await write_log(tmp_path, 80, settings, signer=SIGNER)
    log = open_log(tmp_path)
    assert log.numbers[0] is not None
    assert log.numbers[0] > 0
    assert len(list((tmp_path / "sealed").glob("*.note"))) == log.numbers[-1]
    report = verify(tmp_path, key=VERIFIER)
    assert (report.verdict, report.finding) == ("consistent", None)
    assert report.first > 0
    note = find_newest_checkpoint(log)
    assert note is not None
    assert verify(tmp_path, anchors=[note]).verdict == "proven"


async def test_the_record_of_an_early_removal_may_itself_be_removed(tmp_path: Path) -> None:
    """A later removal speaks for the earlier ones."""
    settings = AuditSettings(segment_bytes=1500, retain_segments=1)
    for _ in range(8):
        await write_log(tmp_path, 10, settings)
    told = [body["segment"] for body in read_bodies(tmp_path, "segment_removed")]
    assert 0 not in told
    report = verify(tmp_path)
    assert (report.verdict, report.finding) == ("consistent", None)


# Values and redaction


async def test_after_redacting_everything_the_chain_verifies_and_no_secret_is_in_any_file(
    tmp_path: Path,
) -> None:
    """The trail says who redacted and why, and shows that something was there."""
    settings = AuditSettings(values="committed", checkpoint_every=10, checkpoint_seconds=60)
    secrets = [f"secret-number-{n}-of-many" for n in range(30)]
    log = await AuditLog.open(tmp_path, settings, signer=SIGNER)
    for secret in secrets:
        log.append("tool_finished", {"output": secret, "nested": {"prompt": [secret]}})
    await log.commit()
    told = read_bodies(tmp_path, "tool_finished")
    named = [one["output"]["$commitment"] for one in told]
    named += [one["nested"]["prompt"]["$commitment"] for one in told]
    for commitment in named:
        await log.redact(commitment, by="ann", reason="privacy")
    with pytest.raises(AuditError, match="Nothing is kept"):
        await log.redact(named[0], by="ann", reason="again")
    await log.close()
    assert verify(tmp_path, key=VERIFIER).verdict == "consistent"
    everything = read_all_files(tmp_path)
    assert not [secret for secret in secrets if secret.encode() in everything]
    first = read_bodies(tmp_path, "redacted")[0]
    assert first == {"commitment": named[0], "by": "ann", "reason": "privacy"}
    records = reveal(read_records(open_log(tmp_path)), tmp_path / "values.db")
    (shown, *_) = [r["body"] for r in records if r["type"] == "tool_finished"]
    assert shown["output"]["redacted"] is True


async def test_a_redaction_that_a_crash_interrupted_is_finished(tmp_path: Path) -> None:
    """The value does not survive its own redaction, whoever opens the log next."""
    log = await AuditLog.open(tmp_path, COMMITTED)
    await log.commit(log.append("user_message", {"text": "very secret"}))
    await log.close()
    (body,) = read_bodies(tmp_path, "user_message")
    commitment = body["text"]["$commitment"]
    store = ValueStore(tmp_path / "values.db")
    store.begin_redaction(ValueRedacted(commitment=commitment, by="ann", reason="r"))
    store.close()
    await write_log(tmp_path, 1)
    store = ValueStore(tmp_path / "values.db")
    assert (store.get(commitment), store.list_unfinished_redactions()) == (None, [])
    store.close()
    assert read_bodies(tmp_path, "redacted")[0]["by"] == "ann"


async def test_an_inline_log_cannot_be_redacted_and_says_so(tmp_path: Path) -> None:
    """Its lines never change."""
    log = await AuditLog.open(tmp_path, FAST)
    with pytest.raises(AuditError, match="committed"):
        await log.redact("x", by="a", reason="b")
    await log.close()


async def test_values_of_a_log_that_is_now_inline_can_still_be_redacted(tmp_path: Path) -> None:
    """The setting is for what comes, not for what is there."""
    log = await AuditLog.open(tmp_path, COMMITTED)
    await log.commit(log.append("user_message", {"text": "very secret"}))
    await log.close()
    (body,) = read_bodies(tmp_path, "user_message")
    log = await AuditLog.open(tmp_path, FAST)
    await log.redact(body["text"]["$commitment"], by="ann", reason="r")
    await log.close()
    assert b"very secret" not in read_all_files(tmp_path)


async def test_a_side_store_that_fails_ends_the_log(tmp_path: Path) -> None:
    """A line whose value is not durable is not acknowledged."""
    log = await AuditLog.open(tmp_path, COMMITTED)
    blocker = sqlite3.connect(tmp_path / "values.db")
    blocker.execute("DROP TABLE kept")
    blocker.close()
    with pytest.raises(AuditUnavailable, match="side store: no such table"):
        await log.commit(log.append("user_message", {"text": "secret"}))
    await log.close()


# Limits


async def test_a_backlog_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is no place to keep a trail that the disk does not take."""
    log = await AuditLog.open(tmp_path, AuditSettings(backlog_bytes=10_000))
    writing = HeldCall(monkeypatch, "write")

    def flood() -> None:
        for _ in range(1000):
            log.append("dispatch", {"text": "x" * 500})

    with pytest.raises(AuditUnavailable, match="too slow"):
        flood()
    writing.release()
    await log.close()
    assert verify(tmp_path).verdict == "consistent"


async def test_damage_is_an_alarm_for_whoever_opened_the_log(tmp_path: Path) -> None:
    """The log goes on in a new segment, whose first record says what happened."""
    await write_log(tmp_path, 9)
    shutil.copy(first_segment(tmp_path), tmp_path / "kept")
    first_segment(tmp_path).write_bytes(b"")
    alarms, report = reopen(tmp_path)
    assert len(alarms) == 1
    assert "is damaged: 00000000.jsonl has 0 bytes" in alarms[0]
    assert report.verdict == "tampered"
    assert next(read_records(open_log(tmp_path / "00000001.jsonl")))["type"] == "broken"
