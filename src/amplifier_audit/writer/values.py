"""The side store: what a line names only by a salted commitment, and what redaction deletes.

The commitment is SHA-256 over a label, 16 random bytes of salt and the value's JSON. Without the
salt nobody can test a guess against it; with value and salt gone, nobody can prove what it was.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from amplifier_audit import Limits, Record, encode
from amplifier_audit.errors import AuditError

LABEL = b"amplifier-audit commitment v1\n"
SALT = 16
KEPT = Limits(text=1 << 20, members=10_000, depth=32, nodes=50_000)
SENSITIVE = frozenset(
    {
        "arguments",
        "comment",
        "content",
        "context_injection",
        "data",
        "edited_input",
        "input",
        "message",
        "output",
        "printed",
        "prompt",
        "response",
        "result",
        "text",
        "tool_input",
        "tool_result",
        "user_message",
    }
)
"""The members of a body that hold what people and models wrote, at any depth."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One value, as it lies in the side store."""

    commitment: str
    salt: bytes
    media_type: str
    value: bytes


def commit_to(value: Any) -> Kept:
    """A fresh commitment to a value."""
    text = isinstance(value, str)
    encoded = encode(value, KEPT)
    salt = os.urandom(SALT)
    return Kept(
        _commitment(salt, encoded), salt, "text/plain" if text else "application/json", encoded
    )


def opens(kept: Kept) -> bool:
    """Whether value and salt are the ones that were committed to."""
    return _commitment(kept.salt, kept.value) == kept.commitment


def committed(body: Any, names: frozenset[str] = SENSITIVE) -> tuple[Any, list[Kept]]:
    """The body with each sensitive member replaced by its commitment, and the values themselves.

    It is encoded first, so that what is walked here is finite and harmless.
    """
    kept: list[Kept] = []
    return _replaced(from_json(encode(body, KEPT)), names, kept), kept


def _replaced(value: Any, names: frozenset[str], kept: list[Kept]) -> Any:
    if isinstance(value, dict):
        return {
            key: _one(entry, kept)
            if key in names and entry not in (None, "")
            else _replaced(entry, names, kept)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_replaced(entry, names, kept) for entry in value]
    return value


class ValueStore:
    """A SQLite file in which a deleted value is overwritten, not only forgotten."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
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
            path.chmod(0o600)
        except (sqlite3.Error, OSError) as error:
            raise AuditError(f"Cannot open the side store {path}: {error}") from error

    def add(self, rows: list[Kept]) -> None:
        """Store values durably, in one transaction."""
        with self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO kept VALUES (?, ?, ?, ?)",
                [(row.commitment, row.salt, row.media_type, row.value) for row in rows],
            )

    def get(self, commitment: str) -> Kept | None:
        """The value behind a commitment, if it was not redacted."""
        row = self._db.execute("SELECT * FROM kept WHERE commitment = ?", (commitment,)).fetchone()
        return Kept(*row) if row else None

    def doom(self, order: Mapping[str, str]) -> None:
        """Remember that a value must go, before the trail says that it went."""
        row = (order["commitment"], order["by"], order["reason"])
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO doomed VALUES (?, ?, ?)", row)

    def doomed(self) -> list[dict[str, str]]:
        """The redactions that were begun and not finished."""
        rows = self._db.execute("SELECT * FROM doomed").fetchall()
        return [dict(zip(("commitment", "by", "reason"), row, strict=True)) for row in rows]

    def delete(self, commitment: str) -> bool:
        """Remove value and salt; False if they were not there."""
        with self._transaction():
            self._db.execute("DELETE FROM doomed WHERE commitment = ?", (commitment,))
            done = self._db.execute("DELETE FROM kept WHERE commitment = ?", (commitment,))
        return done.rowcount > 0

    def close(self) -> None:
        """Close the file."""
        self._db.close()

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
        else:
            self._db.rollback()

    def _run(self, statement: str) -> None:
        try:
            self._db.execute(statement)
        except sqlite3.Error as error:
            raise OSError(5, f"side store: {error}") from error


def _one(value: Any, kept: list[Kept]) -> dict[str, Any]:
    row = commit_to(value)
    kept.append(row)
    return {
        "$commitment": row.commitment,
        "media_type": row.media_type,
        "length": len(row.value),
    }


def _commitment(salt: bytes, value: bytes) -> str:
    return (
        base64.urlsafe_b64encode(hashlib.sha256(LABEL + salt + value).digest()).decode().rstrip("=")
    )


def reveal(records: Iterator[Record], path: Path | None) -> Iterator[Record]:
    """The records with values in the places of their commitments; redacted ones say so."""
    if path is None or not path.exists():
        yield from records
        return
    store = ValueStore(path)
    try:
        for record in records:
            yield {**record, "body": _filled(record["body"], store)}
    finally:
        store.close()


def _filled(value: Any, store: ValueStore) -> Any:
    if isinstance(value, dict) and isinstance(commitment := value.get("$commitment"), str):
        kept = store.get(commitment)
        return from_json(kept.value) if kept and opens(kept) else {**value, "redacted": True}
    if isinstance(value, dict):
        return {key: _filled(entry, store) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, store) for entry in value]
    return value
