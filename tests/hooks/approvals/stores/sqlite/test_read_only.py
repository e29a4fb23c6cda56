"""A store on SQLite for those who only look."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.sqlite_connection import ReadOnlySqlite
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import ManualClock, ask


def digest_all(folder: Path) -> dict[str, str]:
    """The files of a folder; not the index of the log, where readers note where they are."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if not path.name.endswith("-shm")
    }


def count(transaction: Transaction) -> int:
    return len(list_approvals(transaction, ApprovalFilter())[0])


async def test_a_store_that_nobody_has_open_is_read_without_a_trace(tmp_path: Path) -> None:
    """Not even the empty log appears that SQLite makes for every reader."""
    path = tmp_path / "a store?.db"
    async with await open_store(path) as store:
        await ask(store)
    before = digest_all(tmp_path)
    assert list(before) == [path.name]
    assert await ReadOnlySqlite(path).read(count) == 1
    assert digest_all(tmp_path) == before


async def test_what_another_process_has_written_is_seen_at_once(tmp_path: Path) -> None:
    """While it has the store open, and its log holds the newest rows."""
    reader = ReadOnlySqlite(tmp_path / "store.db")
    async with await open_store(tmp_path / "store.db") as store:
        assert await reader.read(count) == 0
        await ask(store)
        before = digest_all(tmp_path)
        assert await reader.read(count) == 1
        assert digest_all(tmp_path) == before


async def test_a_store_that_is_written_to_during_a_read_is_read_again(tmp_path: Path) -> None:
    """What was read without a look at the log may be half of each."""
    path = tmp_path / "store.db"
    seen: list[int] = []
    async with await open_store(path):
        pass

    def work(transaction: Transaction) -> int:
        found = transaction.run("SELECT COUNT(*) AS n FROM schema_steps")[0]["n"]
        if not seen:
            with closing(sqlite3.connect(path)) as other, other:
                other.execute("CREATE TABLE other (x)")
        seen.append(found)
        return int(found)

    await ReadOnlySqlite(path).read(work)
    assert len(seen) == 2


async def test_nothing_can_be_written_through_it(tmp_path: Path) -> None:
    """Neither while others have it open nor when nobody has."""
    path = tmp_path / "store.db"

    def write(transaction: Transaction) -> None:
        transaction.run("DELETE FROM approvals")

    async with await open_store(path) as store:
        await ask(store)
        with pytest.raises(StoreUnavailable, match="readonly"):
            await ReadOnlySqlite(path).read(write)
    with pytest.raises(StoreUnavailable, match="readonly"):
        await ReadOnlySqlite(path).read(write)
    assert await ReadOnlySqlite(path).read(count) == 1


async def test_where_there_is_no_store_none_is_made(tmp_path: Path) -> None:
    """Nobody has asked anything yet."""
    assert await ReadOnlySqlite(tmp_path / "no" / "store.db").read(count) is None
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    """It may be of somebody else."""
    (tmp_path / "notes.txt").write_text("milk, eggs, and so on, for longer than a page has bytes")
    with pytest.raises(StoreUnavailable, match=r"notes\.txt does not work"):
        await ReadOnlySqlite(tmp_path / "notes.txt").read(count)


async def test_time_is_told_by_the_clock_of_the_store(tmp_path: Path) -> None:
    """The wall clock may have been set since the store was made."""
    path = tmp_path / "store.db"
    async with await open_store(path) as store:
        made = await ask(store)
    with closing(sqlite3.connect(path)) as own, own:
        own.execute("UPDATE boot_clock SET anchor = anchor + 1000")

    def read_now(transaction: Transaction) -> float:
        return float(transaction.run("SELECT unix_now() AS now")[0]["now"])

    assert 999 < await ReadOnlySqlite(path).read(read_now) - made.created < 1600
    assert await ReadOnlySqlite(path, ManualClock(5.0)).read(read_now) == 5.0
