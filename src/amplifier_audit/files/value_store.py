"""The side store: values that a line names only by a salted commitment, until they are redacted.

The commitment is SHA-256 over a label, 16 random bytes of salt and the value's JSON. Without the
salt nobody can test a guess against it; with value and salt gone, nobody can prove what it was.
"""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_audit.errors import AuditError
from amplifier_audit.format.own_records import ValueRedacted

LABEL = b"amplifier-audit commitment v1\n"


@dataclass(frozen=True, slots=True)
class StoredValue:
    """One value, as it lies in the side store."""

    commitment: str
    salt: bytes
    media_type: str
    value: bytes

    def is_genuine(self) -> bool:
        """Whether value and salt are the ones that were committed to."""
        if not (isinstance(self.salt, bytes) and isinstance(self.value, bytes)):
            return False  # SQLite takes any type for any column
        return make_commitment(self.salt, self.value) == self.commitment


def make_commitment(salt: bytes, value: bytes) -> str:
    """The text that stands for a value."""
    digest = hashlib.sha256(LABEL + salt + value).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class ValueStore:
    """A SQLite file in which a deleted value is overwritten, not only forgotten."""

    def __init__(self, path: Path) -> None:
        try:
            # For its owner only from its first moment; a store that is there may be evidence, on a
            # volume that cannot be written, and is left as it is.
            if not path.exists():
                path.touch(mode=0o600)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._prepare()
        except (sqlite3.Error, OSError) as error:
            raise AuditError(f"Cannot open the side store {path}: {error}") from error

    def _prepare(self) -> None:
        try:
            self._db.execute("PRAGMA secure_delete = ON")
            self._db.execute("PRAGMA journal_mode = TRUNCATE")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS kept (commitment TEXT PRIMARY KEY, salt BLOB NOT NULL,"
                " media_type TEXT NOT NULL, value BLOB NOT NULL) WITHOUT ROWID"
            )
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS doomed (commitment TEXT PRIMARY KEY,"
                " redactor TEXT NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID"
            )
        except sqlite3.Error:
            self._db.close()
            raise

    def add(self, rows: list[StoredValue]) -> None:
        """Store values durably, in one transaction."""
        with self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO kept VALUES (?, ?, ?, ?)",
                [(row.commitment, row.salt, row.media_type, row.value) for row in rows],
            )

    def get(self, commitment: str) -> StoredValue | None:
        """The value behind a commitment, if it was not redacted."""
        rows = self._select("SELECT * FROM kept WHERE commitment = ?", commitment)
        return StoredValue(*rows[0]) if rows else None

    def begin_redaction(self, order: ValueRedacted) -> None:
        """Note that a value must go, before the trail says that it is gone."""
        row = (order.commitment, order.by, order.reason)
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO doomed VALUES (?, ?, ?)", row)

    def list_unfinished_redactions(self) -> list[ValueRedacted]:
        """The redactions that were begun and not finished."""
        rows = self._select("SELECT * FROM doomed")
        return [ValueRedacted(commitment=one, by=by, reason=why) for one, by, why in rows]

    def delete(self, commitment: str) -> bool:
        """Remove value and salt; False if they were not there."""
        with self._transaction():
            self._db.execute("DELETE FROM doomed WHERE commitment = ?", (commitment,))
            done = self._db.execute("DELETE FROM kept WHERE commitment = ?", (commitment,))
        return done.rowcount > 0

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _select(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise AuditError(f"Cannot read the side store: {error}") from error

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db)


class _Transaction:
    """SQLite's errors become errors of the operating system, which the log knows how to end on."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._run("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            self._run("COMMIT")
            return
        self._db.rollback()
        if isinstance(error, sqlite3.Error):
            raise OSError(5, f"side store: {error}") from error

    def _run(self, statement: str) -> None:
        try:
            self._db.execute(statement)
        except sqlite3.Error as error:
            raise OSError(5, f"side store: {error}") from error
