"""Group commit: a thread writes what has gathered, and one sync serves all who wait."""

from __future__ import annotations

import asyncio
import errno
import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.anchors import AnchorRelay
from amplifier_audit.checkpoint import Note
from amplifier_audit.disk import Disk
from amplifier_audit.encoding import encode_body
from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.line_maker import RecordQueue
from amplifier_audit.log import AuditLog, GroupCommit
from amplifier_audit.log_directory import AuditDirectory
from amplifier_audit.record import Head
from amplifier_audit.recovery import Opening
from amplifier_audit.settings import AuditSettings
from amplifier_audit.verification import verify
from tests.audit.support import (
    FAST,
    WRITER_THREAD,
    HeldCall,
    break_call,
    make_source,
    read_types,
)


class Setup:
    """A group commit with its queue and disk, in a directory of its own."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.settings = AuditSettings(**settings)
        opening, directory = Opening("ab", Head(), 0, 0), AuditDirectory(path)
        self.queue = RecordQueue(opening, self.settings, None, directory.list_segments)
        self.anchored: list[Note] = []
        self.failures: list[str] = []
        relay = AnchorRelay([self.anchored.append])
        disk = Disk(directory, opening, None)
        self.commits = GroupCommit(self.queue, disk, relay, self.settings, self.failures.append)

    def add(self, count: int = 1) -> None:
        with self.commits.lock:
            for _ in range(count):
                self.queue.add(make_source(), encode_body({}))

    def watch_waits(self) -> WatchedEvent:
        """From the start of the thread: how long it is ready to wait each time."""
        event = WatchedEvent()
        self.commits._wake = event
        self.commits.wake = event.set
        return event


class WatchedEvent(threading.Event):
    """Keeps the time limit of each wait."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[float | None] = []
        self.waited = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.limits.append(timeout)
        self.waited.set()
        return super().wait(timeout)


class WatchedFlush:
    """Tells when records were flushed."""

    def __init__(self, commits: GroupCommit) -> None:
        self.done = threading.Event()
        self._real = commits.flush
        commits.flush = self._flush  # type: ignore[method-assign]

    def _flush(self, **options: Any) -> None:
        self._real(**options)
        self.done.set()


def test_flushing_without_a_sync_acknowledges_nothing(tmp_path: Path) -> None:
    """Records are in the file, and nobody is told yet."""
    setup = Setup(tmp_path)
    setup.add(3)
    setup.commits.flush(sync=False)
    assert setup.commits.durable == 0
    assert read_types(tmp_path) == ["dispatch"] * 3
    setup.commits.flush(sync=True)
    assert setup.commits.durable == 3


def test_a_timed_flush_adds_a_checkpoint_if_there_is_something_new(tmp_path: Path) -> None:
    """A log that rests does not grow."""
    setup = Setup(tmp_path)
    setup.commits.flush(sync=True, timed=True)
    setup.add()
    setup.commits.flush(sync=True, timed=True)
    setup.commits.flush(sync=True, timed=True)
    assert read_types(tmp_path) == ["dispatch", "checkpoint"]


def test_anchors_learn_of_a_checkpoint_only_when_it_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that knows more than the disk would turn a crash into tampering."""
    setup = Setup(tmp_path)
    setup.add()
    due = setup.queue.add_checkpoint()
    setup.commits.flush(sync=False)
    setup.commits.start()
    assert setup.anchored == []
    assert setup.commits.stop()
    assert setup.anchored == [due.note]


def test_stopping_waits_until_the_anchors_have_everything(tmp_path: Path) -> None:
    """Whoever closes a log may look at the anchors next."""
    setup = Setup(tmp_path)
    release, seen = threading.Event(), list[Note]()

    def anchor(note: Note) -> None:
        assert release.wait(20)
        seen.append(note)

    setup.commits._relay = AnchorRelay([anchor])
    setup.add()
    setup.queue.add_checkpoint()
    setup.commits.start()
    stopping = threading.Thread(target=setup.commits.stop)
    stopping.start()
    stopping.join(0.05)
    assert stopping.is_alive()
    release.set()
    stopping.join(20)
    assert [note.checkpoint.size for note in seen] == [1]


def test_a_flush_on_another_day_begins_a_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when nothing else was written that day."""
    setup = Setup(tmp_path)
    setup.add()
    setup.commits.flush(sync=True)
    monkeypatch.setattr("amplifier_audit.line_maker.find_today", lambda: 99)
    setup.commits.flush(sync=True)
    assert AuditDirectory(tmp_path).list_segments() == [0, 1]


async def test_a_waiter_is_done_when_its_record_is_durable(tmp_path: Path) -> None:
    """The thread wakes up, writes, syncs and releases it."""
    setup = Setup(tmp_path, checkpoint_seconds=60)
    setup.commits.start()
    setup.add(2)
    with setup.commits.lock:
        done = setup.commits.waiters.add(2)
    setup.commits.wake()
    await done
    assert setup.commits.durable == 2
    assert await asyncio.to_thread(setup.commits.stop)


def test_a_thread_without_work_rests(tmp_path: Path) -> None:
    """It wakes up when there is something to do, and not before."""
    setup = Setup(tmp_path, checkpoint_seconds=60, gather_seconds=0.0)
    flushed, count = threading.Event(), 0
    real = setup.commits.flush

    def flush(**options: Any) -> None:
        nonlocal count
        count += 1
        real(**options)
        flushed.set()

    setup.commits.flush = flush  # type: ignore[method-assign]
    setup.commits.start()
    assert not flushed.wait(0.05)
    setup.add()
    setup.commits.wake()
    assert flushed.wait(20)
    assert not threading.Event().wait(0.05)
    assert count == 1
    assert setup.commits.stop()


@pytest.mark.parametrize("count", [0, 1])
def test_a_thread_waits_without_a_limit_only_when_all_is_on_disk(
    tmp_path: Path, count: int
) -> None:
    """Else until the next sync is due, even if nobody wakes it."""
    setup = Setup(tmp_path, checkpoint_seconds=60)
    setup.add(count)
    event = setup.watch_waits()
    setup.commits.start()
    assert event.waited.wait(20)
    assert setup.commits.stop()
    first = event.limits[0]
    assert (first is None) == (count == 0)
    assert first is None or 0 < first <= 60


def test_records_that_nobody_waits_for_gather_for_a_moment(tmp_path: Path) -> None:
    """One write takes many of them."""
    setup = Setup(tmp_path, checkpoint_seconds=60, gather_seconds=0.0123)
    written = WatchedFlush(setup.commits)
    event = setup.watch_waits()
    setup.add()
    setup.commits.wake()
    setup.commits.start()
    assert written.done.wait(20)
    assert event.limits[1] == 0.0123
    assert setup.commits.stop()


async def test_records_that_somebody_waits_for_do_not_gather(tmp_path: Path) -> None:
    """Neither do those at the end."""
    setup = Setup(tmp_path, checkpoint_seconds=60, gather_seconds=0.0123)
    event = setup.watch_waits()
    setup.add()
    done = setup.commits.waiters.add(1)
    setup.commits.wake()
    setup.commits.start()
    await done
    assert await asyncio.to_thread(setup.commits.stop)
    assert 0.0123 not in event.limits


async def test_what_comes_during_the_last_sync_is_written_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever closes the log does not lose records to a turn that was under way."""
    setup = Setup(tmp_path, checkpoint_seconds=60)
    sync = HeldCall(monkeypatch, "fsync")
    setup.add()
    done = setup.commits.waiters.add(1)
    setup.commits.wake()
    setup.commits.start()
    assert await asyncio.to_thread(sync.reached.wait, 20)
    setup.add()
    setup.commits.closing = True
    sync.release()
    await done
    assert await asyncio.to_thread(setup.commits.stop)
    assert (read_types(tmp_path), setup.commits.durable) == (["dispatch"] * 2, 2)


def test_the_thread_does_not_keep_a_program_from_ending(tmp_path: Path) -> None:
    """One that was never told to close the log, or whose disk does not answer."""
    setup = Setup(tmp_path)
    setup.commits.start()
    (thread,) = (one for one in threading.enumerate() if one.name == WRITER_THREAD)
    assert thread.daemon
    assert setup.commits.stop()


async def test_a_failure_is_told_once_and_ends_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no second try: it would report success for pages that were dropped."""
    setup = Setup(tmp_path)
    syncs: list[int] = []

    def fail(descriptor: int) -> None:
        syncs.append(descriptor)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync", fail)
    setup.commits.start()
    setup.add()
    with setup.commits.lock:
        done = setup.commits.waiters.add(1)
    setup.commits.wake()
    with pytest.raises(AuditUnavailable, match="takes no records: Input/output error"):
        await done
    assert await asyncio.to_thread(setup.commits.stop)
    assert (setup.failures, len(syncs)) == (["Input/output error"], 1)
    assert setup.commits.durable == 0


async def test_any_exception_of_the_thread_is_a_failure_and_not_a_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that just died would leave all waiting."""
    setup = Setup(tmp_path)

    def fail(*args: Any) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("os.write", fail)
    setup.commits.start()
    setup.add()
    with setup.commits.lock:
        done = setup.commits.waiters.add(1)
    setup.commits.wake()
    with pytest.raises(AuditUnavailable, match="ZeroDivisionError"):
        await done
    assert await asyncio.to_thread(setup.commits.stop)


async def test_many_waiters_share_one_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred who come while one sync is under way are served by the next."""
    log = await AuditLog.open(tmp_path, AuditSettings(checkpoint_seconds=60))
    sync = HeldCall(monkeypatch, "fsync")
    first = asyncio.create_task(log.commit(log.append("tool_started", {})))
    await asyncio.to_thread(sync.reached.wait, 20)

    async def write_one() -> None:
        await log.commit(log.append("tool_started", {}))

    others = [asyncio.create_task(write_one()) for _ in range(100)]
    await asyncio.sleep(0)
    sync.release()
    await asyncio.gather(first, *others)
    assert sync.count == 2
    await log.close()


async def test_the_loop_runs_on_while_the_disk_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records can still be appended; only who waits, waits."""
    log = await AuditLog.open(tmp_path, FAST)
    sync = HeldCall(monkeypatch, "fsync")
    waiting = asyncio.create_task(log.commit(log.append("tool_started", {})))
    await asyncio.to_thread(sync.reached.wait, 20)
    for number in range(100):
        log.append("dispatch", {"n": number})
        await asyncio.sleep(0)
    assert not waiting.done()
    sync.release()
    await waiting
    await log.close()
    assert verify(tmp_path).verdict == "consistent"


async def test_records_nobody_waits_for_are_synced_soon(tmp_path: Path) -> None:
    """After `checkpoint_seconds` at most, with a checkpoint that the anchors get."""
    anchored = threading.Event()

    def anchor(note: Note) -> None:
        if note.checkpoint.size > 2:
            anchored.set()

    log = await AuditLog.open(tmp_path, AuditSettings(checkpoint_seconds=0.05), anchors=(anchor,))
    sequence = log.append("dispatch", {"n": 1})
    assert await asyncio.to_thread(anchored.wait, 20)
    assert log.durable > sequence
    assert read_types(tmp_path)[-2:] == ["dispatch", "checkpoint"]
    await log.close()


async def test_a_disk_that_never_answers_does_not_hang_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing gives up, and keeps the lock: the disk may still answer."""
    log = await AuditLog.open(tmp_path, AuditSettings(sync_timeout=0.05))
    sync = HeldCall(monkeypatch, "fsync")
    log.append("dispatch", {})
    with pytest.raises(AuditUnavailable, match="does not answer"):
        await log.close()
    with pytest.raises(AuditUnavailable, match="Another writer"):
        await AuditLog.open(tmp_path)
    sync.release()
    for thread in threading.enumerate():
        if thread.name == "audit-writer":
            await asyncio.to_thread(thread.join, 20)


async def test_after_a_failure_the_last_turn_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be written is not written at the end either."""
    log = await AuditLog.open(tmp_path, FAST)
    with monkeypatch.context() as broken:
        break_call(broken, "fsync", errno.EIO)
        with pytest.raises(AuditUnavailable):
            await log.commit(log.append("dispatch", {"n": 1}))
    size = (tmp_path / "00000000.jsonl").stat().st_size
    await log.close()
    assert (tmp_path / "00000000.jsonl").stat().st_size == size
