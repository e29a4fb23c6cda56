"""The side store: values that a line names only by a salted commitment, until they are redacted.

The commitment is SHA-256 over a label, 16 random bytes of salt and the value's JSON. Without the
salt nobody can test a guess against it; with value and salt gone, nobody can prove what it was.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from amplifier_audit.errors import AuditError, NotALog
from amplifier_audit.log_directory import (
    LogFiles,
    open_remains,
    parse_or_none,
    read_batches,
)
from amplifier_audit.own_records import LogOpened, ValueRedacted
from amplifier_audit.record import Record
from amplifier_audit.report import Finding

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


_PLACE = frozenset({"$commitment", "media_type", "length"})


_COMMITTED = b'"$commitment"'


_REDACTED = b'"type":"redacted"'


_OPENED = b'"type":"log_opened"'


def reveal(records: Iterable[Record], path: Path | None) -> Iterator[Record]:
    """The records with values in the places of their commitments.

    A place whose value was redacted has `redacted`; one whose value is not there, or is another
    one, and of which no record says that it was redacted, has `missing`.
    """
    with open_revealer(path) as fill_in:
        yield from map(fill_in, records)


@contextmanager
def open_revealer(path: Path | None) -> Iterator[Callable[[Record], Record]]:
    """What does that with one record."""
    if path is None:
        yield lambda record: record
        return
    store = ValueStore(path) if path.exists() else None
    values = _Values(store, path.parent)
    try:
        yield lambda record: _reveal_one(record, values)
    finally:
        if store is not None:
            store.close()


def may_hold_commitment(line: bytes) -> bool:
    """Whether there may be one in the record of a line; False is certain."""
    return b"$commitment" in line or b"\\u00" in line


class _Values:
    """The values of a log, and which of them were redacted, read when one is not there."""

    def __init__(self, store: ValueStore | None, log: Path) -> None:
        self._store = store
        self._log = log
        self._redacted: dict[str, int] | None = None

    def look_up(self, commitment: str, place: dict[str, Any]) -> Any:
        """The value, or its place with why there is none."""
        stored = None if self._store is None else self._store.get(commitment)
        if stored is not None and stored.is_genuine():
            try:
                return json.loads(stored.value)
            except ValueError:
                pass
        if self._redacted is None:
            self._redacted = self._read_redactions()
        return {**place, "redacted" if commitment in self._redacted else "missing": True}

    def _read_redactions(self) -> dict[str, int]:
        try:
            return find_redactions(open_remains(self._log).paths)
        except NotALog:
            return {}


def _reveal_one(record: Record, values: _Values) -> Record:
    try:
        return {**record, "body": _fill_in(record["body"], values)}
    except RecursionError:
        # Nested deeper than any writer nests: a forged record is shown as it is.
        return record


def _fill_in(value: Any, values: _Values) -> Any:
    if isinstance(value, list):
        return [_fill_in(entry, values) for entry in value]
    if not isinstance(value, dict):
        return value
    if isinstance(commitment := value.get("$commitment"), str):
        return values.look_up(commitment, value)
    return {key: _fill_in(entry, values) for key, entry in value.items()}


def find_redactions(paths: Iterable[Path]) -> dict[str, int]:
    """The commitments that records say were redacted, each with the sequence of its record."""
    found: dict[str, int] = {}
    for path in paths:
        for line in chain.from_iterable(read_batches(path)):
            record = parse_or_none(line) if _REDACTED in line else None
            if record is not None and record["type"] == "redacted":
                found.setdefault(ValueRedacted.parse(record["body"]).commitment, record["seq"])
    return found


def find_missing_values(log: LogFiles, covered: int) -> Finding | None:
    """The first value that is missing or replaced, and was not redacted by a record that counts.

    `covered` counts the records that an anchor or a signature proves; if there are any, a record
    behind them does not count, as anybody may have appended it.
    """
    if log.directory is None:
        return None  # one segment alone; its values are where the log is
    path = log.directory.values
    redactions: dict[str, int] | None = None
    with closing(_open_read_only(path)) as database:
        for sequence, commitment in _iterate_commitments(log.paths, path.exists()):
            why = _examine(database, commitment)
            if not why:
                continue
            if redactions is None:
                redactions = find_redactions(log.paths)
            redacted = redactions.get(commitment)
            if redacted is None or (covered and redacted >= covered):
                no = "no" if redacted is None else "no proven"
                message = f"the value of {commitment} {why}, and {no} record says it was redacted"
                return Finding("missing value", sequence, message)
    return None


def _open_read_only(path: Path) -> sqlite3.Connection:
    """The side store as it is; an empty one if there is none."""
    try:
        if not path.exists():
            return sqlite3.connect(":memory:")
        return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise AuditError(f"Cannot open the side store {path}: {error}") from error


def _examine(database: sqlite3.Connection, commitment: str) -> str:
    """What is wrong with a value; empty if it is the one that was committed to."""
    try:
        rows = database.execute("SELECT * FROM kept WHERE commitment = ?", (commitment,)).fetchall()
    except sqlite3.Error as error:
        return "cannot be read" if "no such table" not in str(error) else "is not there"
    if not rows:
        return "is not there"
    return "" if StoredValue(*rows[0]).is_genuine() else "is another one"


def _iterate_commitments(paths: Iterable[Path], is_committed: bool) -> Iterator[tuple[int, str]]:
    """The commitments that a writer made, with the sequence of their records.

    Where values are kept in the lines, such a member is just what somebody wrote. Which of the two
    it is, the writer says when it opens the log; `is_committed` holds for what is before.
    """
    for path in paths:
        lines = chain.from_iterable(read_batches(path))
        for line in (one for one in lines if _COMMITTED in one or _OPENED in one):
            record = parse_or_none(line)
            if record is None:
                continue
            if record["type"] == "log_opened":
                is_committed = LogOpened.parse(record["body"]).values == "committed"
            elif is_committed:
                for commitment in _list_commitments(record["body"]):
                    yield record["seq"], commitment


def _list_commitments(body: Any) -> Iterator[str]:
    todo = [body]
    while todo:
        value = todo.pop()
        if isinstance(value, list):
            todo += value
        elif isinstance(value, dict):
            if value.keys() == _PLACE and isinstance(value["$commitment"], str):
                yield value["$commitment"]
            else:
                todo += value.values()
