"""Connections to the file of a store, its clock, and a store for those who only look."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores import sqlite_connection as clocks
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import Change, Transaction
from amplifier_hooks.approvals.stores.sqlite_connection import (
    BootClock,
    ReadOnlySqlite,
    SqliteTransaction,
    connect,
    prepare_file,
    read_boot_id,
    read_time_since_boot,
)
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import ManualClock, ask


def test_file_and_folder_are_their_owner_s_alone(tmp_path: Path) -> None:
    """Also when the file was there, open to others."""
    path = tmp_path / "new" / "store.db"
    prepare_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o666)
    prepare_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    connection = connect(path, time.time)
    connection.execute("CREATE TABLE t (x)")
    modes = {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert len(modes) == 3
    connection.close()


def test_every_connection_syncs_in_full_to_a_write_ahead_log(tmp_path: Path) -> None:
    """A power failure after a commit loses nothing."""
    for reads_only in (False, True):
        connection = connect(tmp_path / "s.db", time.time, reads_only=reads_only)
        assert connection.execute("PRAGMA synchronous").fetchone() == {"synchronous": 2}
        assert connection.execute("PRAGMA journal_mode").fetchone() == {"journal_mode": "wal"}
        assert connection.execute("PRAGMA query_only").fetchone() == {"query_only": reads_only}
        connection.close()


def test_the_clock_answers_within_statements(tmp_path: Path) -> None:
    """`unix_now()` is the clock that was given."""
    connection = connect(tmp_path / "s.db", lambda: 12.5)
    assert SqliteTransaction(connection).run("SELECT unix_now() AS now") == [{"now": 12.5}]
    connection.close()


def test_a_transaction_takes_named_values_and_keeps_news(tmp_path: Path) -> None:
    """Rows come as mappings."""
    connection = connect(tmp_path / "s.db", time.time)
    transaction = SqliteTransaction(connection)
    assert transaction.run("SELECT :a AS a, :b AS b", a=1, b=None) == [{"a": 1, "b": None}]
    transaction.announce("approval", "x")
    assert transaction.changes == [Change("approval", "x")]
    connection.close()


def test_what_is_no_store_is_named(tmp_path: Path) -> None:
    """A file that is no database, and a folder in the file's place."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look at " * 50)
    with pytest.raises(StoreUnavailable, match=r"notes\.txt.*not a database"):
        connect(path, time.time)
    with pytest.raises(StoreUnavailable, match="is not an ordinary file"):
        prepare_file(tmp_path)


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(tmp_path: Path) -> None:
    """A store may be put on another disk."""
    (tmp_path / "s.db").symlink_to(tmp_path / "elsewhere.db")
    prepare_file(tmp_path / "s.db")
    assert (tmp_path / "elsewhere.db").stat().st_mode & 0o777 == 0o600


def test_preparing_a_file_leaves_the_locks_of_its_connections(tmp_path: Path) -> None:
    """POSIX drops all locks of a process on a file when it closes any descriptor of that file."""
    path = tmp_path / "s.db"
    prepare_file(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    prepare_file(path)
    program = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    )
    other = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    holder.close()
    assert "database is locked" in other.stderr


def test_a_new_file_that_another_connection_writes_to_is_waited_for(tmp_path: Path) -> None:
    """SQLite itself does not wait while the mode of a file is changed."""
    path = tmp_path / "s.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.2, holder.close)
    timer.start()
    connection = connect(path, time.time)
    assert connection.execute("PRAGMA journal_mode").fetchone() == {"journal_mode": "wal"}
    connection.close()
    timer.join()


def test_a_new_file_that_stays_locked_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience has an end."""
    monkeypatch.setattr("amplifier_hooks.approvals.stores.sqlite_connection.PATIENCE", 0.05)
    path = tmp_path / "s.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match=r"s\.db does not work: database is locked"):
        connect(path, time.time)
    holder.close()


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With both versions in the message."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreUnavailable, match=r"3\.35 or newer"):
        prepare_file(tmp_path / "s.db")


def test_a_file_system_without_shared_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SQLite answers there: it stays with another kind of log."""
    real = sqlite3.connect

    def connect_to_memory(path: Path, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = real(":memory:", isolation_level=None)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_to_memory)
    with pytest.raises(StoreUnavailable, match="put it on a local disk"):
        connect(tmp_path / "s.db", time.time)


class Machine:
    """A machine whose wall clock can be set; it may be booted again."""

    def __init__(self, wall: float = 1_000_000.0) -> None:
        self.wall = wall
        self.up = 50.0
        self.boot = 1

    def pass_time(self, seconds: float) -> None:
        self.wall += seconds
        self.up += seconds

    def restart(self, seconds_off: float) -> None:
        self.wall += seconds_off
        self.up = 5.0
        self.boot += 1

    def start_process(self, connection: sqlite3.Connection) -> BootClock:
        clock = BootClock(lambda: self.wall, lambda: self.up, f"boot-{self.boot}")
        clock.attach(connection)
        return clock


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    with closing(make_database()) as connection:
        yield connection


def make_database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def test_setting_the_wall_clock_moves_no_deadline(database: sqlite3.Connection) -> None:
    """An hour forward or back, before or after a second process starts: all agree."""
    machine = Machine()
    first = machine.start_process(database)
    assert first() == 1_000_000.0
    machine.wall += 3600
    second = machine.start_process(database)
    machine.pass_time(10)
    assert first() == second() == 1_000_010.0
    machine.wall -= 7200
    machine.pass_time(10)
    assert first() == second() == machine.start_process(database)() == 1_000_020.0


def test_a_restart_of_the_machine_takes_the_wall_clock_anew(database: sqlite3.Connection) -> None:
    """Time passes while a machine is off."""
    machine = Machine()
    machine.start_process(database)
    machine.restart(500.0)
    assert machine.start_process(database)() == 1_000_500.0


@given(st.lists(st.tuples(st.sampled_from(["pass", "set", "boot"]), st.integers(-5000, 5000))))
def test_the_clock_never_goes_back(steps: list[tuple[str, int]]) -> None:
    """Whatever happens to the wall clock, over restarts of processes and of the machine."""
    machine = Machine()
    with closing(make_database()) as database:
        clock = machine.start_process(database)
        last = clock()
        for what, seconds in steps:
            if what == "pass":
                machine.pass_time(abs(seconds))
            elif what == "set":
                machine.wall += seconds
            else:
                clock.save(database)
                machine.restart(seconds)
                clock = machine.start_process(database)
            assert clock() >= last
            last = clock()
            clock.save(database)


def test_how_far_it_came_is_saved_about_once_a_second(database: sqlite3.Connection) -> None:
    """Not with every write."""
    machine = Machine()
    clock = machine.start_process(database)
    saved = []
    for _ in range(30):
        machine.pass_time(0.1)
        clock.save(database)
        saved.append(database.execute("SELECT latest FROM boot_clock").fetchone()["latest"])
    assert 2 <= len(set(saved)) - 1 <= 4


def test_this_machine_has_a_boot_and_a_time_since() -> None:
    """The id stays, and the time goes on."""
    assert read_boot_id() == read_boot_id() != ""
    before = read_time_since_boot()
    assert 0 < before <= read_time_since_boot()


def test_without_a_boot_id_each_opening_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes then agree only as far as the wall clock does."""
    monkeypatch.setattr(clocks, "_BOOT_ID", Path("/nowhere/boot_id"))
    assert read_boot_id() != read_boot_id()


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
