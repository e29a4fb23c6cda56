"""Those who wait until their record is on disk."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.log import AuditLog
from amplifier_audit.verification import verify
from amplifier_audit.waiters import Waiters
from tests.audit.support import FAST, HeldCall


async def settle() -> None:
    """Let the callbacks run that other threads have scheduled."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_release_frees_those_whose_records_are_on_disk() -> None:
    """And nobody else."""
    waiters = Waiters(10)
    assert not waiters
    futures = [waiters.add(size) for size in (1, 2, 3, 2)]
    waiters.release(2)
    await settle()
    assert [future.done() for future in futures] == [True, True, False, True]
    assert waiters
    waiters.release(3)
    await futures[2]
    assert not waiters


async def test_a_failure_reaches_all_who_wait_now() -> None:
    """Each with the reason; who comes later waits for what comes later."""
    waiters = Waiters(10)
    futures = [waiters.add(size) for size in (1, 2)]
    waiters.fail("the disk is full")
    for future in futures:
        with pytest.raises(AuditUnavailable, match="the disk is full"):
            await future
    later = waiters.add(3)
    await settle()
    assert not later.done()
    waiters.release(3)
    await later


async def test_whoever_waits_too_long_is_told() -> None:
    """The time is in the sentence."""
    waiters = Waiters(0.01)
    with pytest.raises(AuditUnavailable, match=r"Nothing reached the disk for 0\.01 s"):
        await waiters.add(1)
    assert not waiters


async def test_while_the_disk_works_nobody_is_told_to_give_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit is on silence, not on how long a queue is."""
    waiters = Waiters(10)
    loop, timers = asyncio.get_running_loop(), list[tuple]()
    monkeypatch.setattr(loop, "call_later", lambda *timer: timers.append(timer))
    last = waiters.add(9)
    for size in range(3):
        _, expire, *given = timers.pop()
        waiters.release(size)
        expire(*given)
        await settle()
        assert not last.done()
    _, expire, *given = timers.pop()
    expire(*given)
    with pytest.raises(AuditUnavailable):
        await last


async def test_one_timer_serves_all_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a timer each, waiting would cost more than syncing."""
    waiters = Waiters(10)
    loop, timers = asyncio.get_running_loop(), list[tuple]()
    monkeypatch.setattr(loop, "call_later", lambda *timer: timers.append(timer))
    for size in range(100):
        waiters.add(size)
    assert len(timers) == 1


async def test_a_timer_that_finds_nobody_waiting_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next who waits begins another one."""
    waiters = Waiters(10)
    loop, timers = asyncio.get_running_loop(), list[tuple]()
    monkeypatch.setattr(loop, "call_later", lambda *timer: timers.append(timer))
    waiters.add(1)
    waiters.release(1)
    _, expire, *given = timers.pop()
    expire(*given)
    assert timers == []
    waiters.add(2)
    assert len(timers) == 1


async def test_a_cancelled_waiter_is_passed_over() -> None:
    """Releasing or failing it does not raise."""
    waiters = Waiters(10)
    gone, there = waiters.add(1), waiters.add(1)
    gone.cancel()
    waiters.release(1)
    await there
    assert gone.cancelled()
    gone = waiters.add(2)
    gone.cancel()
    waiters.fail("x")
    await settle()
    assert gone.cancelled()


def test_each_waits_on_the_loop_that_it_runs_on() -> None:
    """Several loops, in several threads, share one log."""
    waiters = Waiters(10)
    ready = threading.Barrier(4)

    async def wait() -> None:
        future = waiters.add(1)
        await asyncio.to_thread(ready.wait, 20)
        await future

    threads = [threading.Thread(target=lambda: asyncio.run(wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    ready.wait(20)
    waiters.release(1)
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def test_a_loop_that_was_closed_meanwhile_harms_nobody() -> None:
    """The others are still released."""
    waiters = Waiters(10)

    async def leave() -> None:
        waiters.add(1)

    async def wait() -> None:
        future = waiters.add(1)
        waiters.release(1)
        await future

    asyncio.run(leave())
    asyncio.run(wait())
    assert not waiters


async def test_cancelling_a_waiter_of_a_log_harms_nobody(tmp_path: Path) -> None:
    """The rest of its group is released."""
    log = await AuditLog.open(tmp_path, FAST)
    waiters = [asyncio.create_task(log.commit(log.append("dispatch", {}))) for _ in range(50)]
    await asyncio.sleep(0)
    for waiter in waiters[::2]:
        waiter.cancel()
    done = await asyncio.gather(*waiters, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in done[::2])
    assert done[1::2] == [None] * 25
    await log.close()


def test_a_loop_that_ends_while_somebody_waits_for_a_log_harms_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next loop can use the same log."""
    log = AuditLog(tmp_path, FAST)
    sync = HeldCall(monkeypatch, "fsync")

    async def leave() -> None:
        task = asyncio.create_task(log.commit(log.append("dispatch", {})))
        await asyncio.to_thread(sync.reached.wait, 20)
        task.cancel()

    asyncio.run(leave())
    sync.release()
    asyncio.run(log.commit(log.append("dispatch", {})))
    log.close_now()
    assert verify(tmp_path).verdict == "consistent"
