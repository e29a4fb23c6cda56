"""The writing thread: works that come together are made durable together."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.stores.engine import Listeners
from amplifier_hooks.approvals.stores.jobs import Job
from amplifier_hooks.approvals.stores.sqlite import GROUP, Writer
from amplifier_hooks.approvals.stores.sqlite_connection import connect


class Rig:
    """A writer whose statements are counted."""

    def __init__(self, path: Path) -> None:
        self.connection = connect(path, lambda: 1.0)
        self.connection.execute("CREATE TABLE numbers (n BIGINT PRIMARY KEY, t TEXT)")
        self.seen: list[str] = []
        self.connection.set_trace_callback(self.seen.append)
        self.saved = 0
        self.writer = Writer(self.connection, Listeners(), self.describe, self.save)

    def describe(self, error: sqlite3.Error) -> Exception:
        return OSError(f"named: {error}")

    def save(self, connection: sqlite3.Connection) -> None:
        self.saved += 1

    def put(self, work: Any) -> asyncio.Future[Any]:
        job = Job.make(work)
        self.writer.put(job)
        return job.future

    def hold(self) -> threading.Event:
        """Keep the thread busy until the event is set; what is put from now on waits together."""
        began = threading.Event()
        release = threading.Event()

        def wait(transaction: Any) -> None:
            began.set()
            release.wait(30)

        self.put(wait)
        assert began.wait(30)
        return release


def add(number: int, text: str = "") -> Any:
    statement = "INSERT INTO numbers (n, t) VALUES (:n, :t)"
    return lambda transaction: transaction.run(statement, n=number, t=text)


@pytest.fixture
async def rig(tmp_path: Path) -> Any:
    made = Rig(tmp_path / "s.db")
    yield made
    await asyncio.to_thread(made.writer.close)


async def test_works_that_wait_share_one_sync(rig: Rig) -> None:
    """A thousand that wait while another is written take a handful of commits."""
    release = rig.hold()
    works = [rig.put(add(number)) for number in range(1000)]
    release.set()
    await asyncio.gather(*works)
    commits = rig.seen.count("COMMIT")
    assert commits <= 2 + 1000 // GROUP + 1
    assert commits == rig.saved


async def test_a_work_that_fails_takes_no_other_with_it(rig: Rig) -> None:
    """Its own statements are undone, and its error is its caller's."""
    release = rig.hold()

    def fail(transaction: Any) -> None:
        add(99)(transaction)
        raise KeyError("mine")

    good, bad, twice = rig.put(add(1)), rig.put(fail), rig.put(add(1))
    release.set()
    await good
    with pytest.raises(KeyError, match="mine"):
        await bad
    with pytest.raises(OSError, match="named: UNIQUE"):
        await twice
    found = await rig.put(lambda transaction: transaction.run("SELECT n FROM numbers"))
    assert found == [{"n": 1}]


async def test_a_full_disk_fails_the_whole_group_and_nothing_is_half_written(rig: Rig) -> None:
    """SQLite ends the transaction by itself; nobody is told that their work was done."""
    await rig.put(lambda transaction: transaction.run("PRAGMA max_page_count = 10"))
    release = rig.hold()
    small, large, after = rig.put(add(1)), rig.put(add(2, "x" * 10**6)), rig.put(add(3))
    release.set()
    results = await asyncio.gather(small, large, after, return_exceptions=True)
    assert [type(one) for one in results] == [OSError] * 3
    await rig.put(lambda transaction: transaction.run("PRAGMA max_page_count = 100000"))
    await rig.put(add(4))
    found = await rig.put(lambda transaction: transaction.run("SELECT n FROM numbers"))
    assert found == [{"n": 4}]


async def test_a_work_that_nobody_awaits_any_more_is_not_begun(rig: Rig) -> None:
    """Cancelled before its turn, it changes nothing."""
    release = rig.hold()
    future = rig.put(add(1))
    future.cancel()
    release.set()
    found = await rig.put(lambda transaction: transaction.run("SELECT n FROM numbers"))
    assert found == []


async def test_the_end_waits_for_what_was_put(tmp_path: Path) -> None:
    """Nothing that was accepted is dropped."""
    rig = Rig(tmp_path / "s.db")
    works = [rig.put(add(number)) for number in range(GROUP + 10)]
    await asyncio.to_thread(rig.writer.close)
    await asyncio.gather(*works)
