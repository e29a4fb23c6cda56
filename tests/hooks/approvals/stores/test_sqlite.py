"""A store in one file: its writer, its readers, and who waits for them."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores import sqlite_connection as connections
from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.approvals.stores.jobs import Job
from amplifier_hooks.approvals.stores.sqlite import Readers, SqliteEngine
from amplifier_hooks.approvals.stores.sqlite_connection import connect


def add(number: int) -> Any:
    def work(transaction: Any) -> int:
        transaction.run("INSERT INTO numbers (n) VALUES (:n)", n=number)
        transaction.announce("number", str(number))
        return number

    return work


def read_numbers(transaction: Any) -> list[int]:
    return [row["n"] for row in transaction.run("SELECT n FROM numbers ORDER BY n")]


@pytest.fixture
async def engine(tmp_path: Path) -> Any:
    opened = await SqliteEngine.open(tmp_path / "store" / "s.db")
    await opened.write(lambda t: t.run("CREATE TABLE numbers (n BIGINT PRIMARY KEY)"))
    yield opened
    await opened.close()


async def test_writes_return_and_are_read(engine: SqliteEngine) -> None:
    """What was written is there for every reader when the write returns."""
    assert await asyncio.gather(*(engine.write(add(n)) for n in range(20))) == list(range(20))
    assert await engine.read(read_numbers) == list(range(20))


async def test_readers_cannot_write(engine: SqliteEngine) -> None:
    """A statement that changes something is refused there."""
    with pytest.raises(StoreUnavailable, match="readonly"):
        await engine.read(add(1))
    assert await engine.read(read_numbers) == []


async def test_a_lock_of_another_process_stops_neither_the_loop_nor_readers(
    engine: SqliteEngine,
) -> None:
    """The write waits, and everything else goes on."""
    other = sqlite3.connect(engine.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(engine.write(add(1)))
    for _ in range(5):
        assert await engine.read(read_numbers) == []
    assert not waiting.done()
    other.execute("COMMIT")
    other.close()
    assert await waiting == 1


async def test_a_lock_that_is_never_given_up_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a time; and the next write works again."""
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    engine = await SqliteEngine.open(tmp_path / "s.db")
    other = sqlite3.connect(engine.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match=r"s\.db does not work: database is locked"):
        await engine.write(lambda t: None)
    other.close()
    await engine.write(lambda t: None)
    await engine.close()


async def test_listeners_hear_of_this_process_and_of_others(engine: SqliteEngine) -> None:
    """Here with the subject; of others, that something changed."""
    async with engine.listen() as changes:
        await engine.write(add(1))
        assert await asyncio.wait_for(anext(changes), 30) == Change("number", "1")
        other = await SqliteEngine.open(engine.path)
        await other.write(add(2))
        assert await asyncio.wait_for(anext(changes), 30) == Change("*", "*")
        await other.close()


async def test_closing_ends_listeners_threads_and_further_use(tmp_path: Path) -> None:
    """What was put before is still done; closing twice is closing once."""
    before = threading.active_count()
    engine = await SqliteEngine.open(tmp_path / "s.db")
    await engine.write(lambda t: t.run("CREATE TABLE numbers (n BIGINT)"))
    async with engine.listen() as changes:
        last = asyncio.create_task(engine.write(add(7)))
        await asyncio.sleep(0)
        await engine.close()
        assert await last == 7
        assert [one async for one in changes if one.topic != "number"] == []
    await engine.close()
    for work in (engine.write(read_numbers), engine.read(read_numbers)):
        with pytest.raises(StoreUnavailable, match="is closed"):
            await work
    executor = 1  # asyncio's own thread for what blocks may stay
    assert threading.active_count() <= before + executor
    assert not [one for one in threading.enumerate() if one.name.startswith("store-")]


async def test_a_fork_must_open_the_store_again(
    engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The threads and locks of the parent are not the child's."""
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(StoreUnavailable, match="after a fork"):
        await engine.write(add(1))
    with pytest.raises(StoreUnavailable, match="after a fork"):
        await engine.read(read_numbers)
    monkeypatch.undo()
    await engine.write(add(1))


def test_a_loop_that_ends_leaves_no_thread_that_holds_the_process(tmp_path: Path) -> None:
    """Whoever forgets to close, and closes the loop, loses nothing that was durable."""

    async def forget() -> SqliteEngine:
        engine = await SqliteEngine.open(tmp_path / "s.db")
        await engine.write(lambda t: t.run("CREATE TABLE numbers (n BIGINT)"))
        forgotten = asyncio.ensure_future(engine.write(add(1)))
        await asyncio.sleep(0)
        forgotten.cancel()
        return engine

    left = asyncio.run(forget())

    async def go_on() -> list[int]:
        await left.write(add(2))
        found = await left.read(read_numbers)
        await left.close()
        return found

    assert asyncio.run(go_on()) in ([2], [1, 2])


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
