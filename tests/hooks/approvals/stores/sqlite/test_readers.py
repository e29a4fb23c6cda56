"""The reading threads: each work sees one state of the database."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.stores.sqlite import Job, Readers
from amplifier_hooks.approvals.stores.sqlite_connection import connect


class Rig:
    """Two readers, and a connection that writes."""

    def __init__(self, path: Path) -> None:
        self.writing = connect(path, time.time)
        self.writing.execute("CREATE TABLE numbers (n BIGINT)")
        reading = [connect(path, time.time, reads_only=True) for _ in range(2)]
        self.readers = Readers(reading, lambda error: OSError(f"named: {error}"))

    def put(self, work: Any) -> asyncio.Future[Any]:
        job = Job.make(work)
        self.readers.put(job)
        return job.future


@pytest.fixture
async def rig(tmp_path: Path) -> Any:
    made = Rig(tmp_path / "s.db")
    yield made
    await asyncio.to_thread(made.readers.close)
    made.writing.close()


def count(transaction: Any) -> int:
    number: int = transaction.run("SELECT count(*) AS n FROM numbers")[0]["n"]
    return number


async def test_one_work_sees_one_state(rig: Rig) -> None:
    """What is written meanwhile is for the next one."""
    begun, release = threading.Event(), threading.Event()

    def look_twice(transaction: Any) -> tuple[int, int]:
        first = count(transaction)
        begun.set()
        release.wait(30)
        return first, count(transaction)

    looking = rig.put(look_twice)
    await asyncio.to_thread(begun.wait, 30)
    rig.writing.execute("INSERT INTO numbers VALUES (1)")
    assert await rig.put(count) == 1
    release.set()
    assert await looking == (0, 0)


async def test_errors_are_named_and_do_not_stop_the_thread(rig: Rig) -> None:
    """The database's own, and the work's own."""
    for _ in range(3):
        with pytest.raises(OSError, match="named: no such table"):
            await rig.put(lambda transaction: transaction.run("SELECT n FROM missing"))
        with pytest.raises(ZeroDivisionError):
            await rig.put(lambda transaction: 1 // 0)
    assert await rig.put(count) == 0
