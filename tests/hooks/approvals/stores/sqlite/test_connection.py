"""Connections to a store's file: private, durable, and clear about what is wrong."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.approvals.stores.sqlite_connection import (
    SqliteTransaction,
    connect,
    prepare_file,
)


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
