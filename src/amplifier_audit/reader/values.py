"""The values behind commitments: put back in their places, and compared with what was recorded."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

from amplifier_audit.errors import AuditError, NotALog
from amplifier_audit.files.lines import parse_or_none, read_batches
from amplifier_audit.files.log_files import LogFiles, open_remains
from amplifier_audit.files.value_store import StoredValue, ValueStore
from amplifier_audit.format.own_records import LogOpened, ValueRedacted
from amplifier_audit.format.record import Record
from amplifier_audit.reader.report import Finding

_PLACE = frozenset({"$commitment", "media_type", "length"})
"""The members of what stands in the place of a value."""
_COMMITTED = b'"$commitment"'
_REDACTED = b'"type":"redacted"'
_OPENED = b'"type":"log_opened"'


def reveal(records: Iterable[Record], path: Path | None) -> Iterator[Record]:
    """The records with values in the places of their commitments.

    A place whose value was redacted has `redacted`; one whose value is not there, or is another
    one, and of which no record says that it was redacted, has `missing`.
    """
    if path is None:
        yield from records
        return
    store = ValueStore(path) if path.exists() else None
    values = _Values(store, path.parent)
    try:
        for record in records:
            yield _reveal_one(record, values)
    finally:
        if store is not None:
            store.close()


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
