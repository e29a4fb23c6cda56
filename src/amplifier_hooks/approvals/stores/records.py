"""The records of sessions' trails as they were published, for people to look at.

They are a copy: the trail of record is the audit log, and what was dropped on the way is not here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_hooks.approvals.stores.checks.fields import clean_text, read_name
from amplifier_hooks.approvals.stores.checks.paging import read_limit
from amplifier_hooks.approvals.stores.engine import Engine, Row, Transaction
from amplifier_hooks.approvals.stores.errors import BadRequest
from amplifier_hooks.approvals.stores.statistics import add_figures
from amplifier_hooks.approvals.stores.values.hook_figures import list_figures
from amplifier_hooks.approvals.stores.values.plain import TooDeep, to_json
from amplifier_hooks.approvals.stores.values.session import SessionRecord

KEPT = 20_000
"""How many records of a session are kept: the newest."""
BATCH = 1_000
BODY = 256 * 1024
NAME = 400
LAST = 2**53

_INSERT = """
INSERT INTO records (session_id, number, recorded_at, type, event, hook, turn, body)
VALUES (:session_id, :number, :recorded_at, :type, :event, :hook, :turn, :body)
ON CONFLICT (session_id, number) DO NOTHING
RETURNING number
"""
_READ = """
SELECT * FROM records WHERE session_id = :session_id AND number > :after
ORDER BY number LIMIT :most
"""
Found = list[SessionRecord]


class Records:
    """What sessions published of their trails."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Add records; those whose number is known are passed over."""
        read_name("session_id", session_id)
        if len(records) > BATCH:
            raise BadRequest(f"{len(records)} records at once; at most {BATCH} are taken")
        encoded = [(record, _encode(record)) for record in records]
        if encoded:
            await self._engine.write(lambda transaction: _add(transaction, session_id, encoded))

    async def read(self, session_id: str, after: int = 0, limit: int = 500) -> Found:
        """The records that follow on a number, in order."""
        most = read_limit(limit)
        rows = await self._engine.read(
            lambda transaction: transaction.run(
                _READ, session_id=session_id, after=after, most=most
            )
        )
        return [_read(row) for row in rows]


def _encode(record: SessionRecord) -> dict[str, Any]:
    if type(record.number) is not int or not 1 <= record.number <= LAST:
        raise BadRequest(f"A record's number is 1 or more, not {record.number!r}")
    if not isinstance(record.time, int | float) or not math.isfinite(record.time):
        raise BadRequest(f"A record's time is in seconds since 1970, not {record.time!r}")
    return {
        "number": record.number,
        "recorded_at": float(record.time),
        "type": clean_text(record.type, NAME),
        "event": clean_text(record.event, NAME),
        "hook": clean_text(record.hook, NAME),
        "turn": int(record.turn),
        "body": _encode_body(record.body),
    }


def _encode_body(body: Mapping[str, Any]) -> str:
    try:
        text = to_json(body)
    except TooDeep as error:
        return to_json({"left_out": str(error)})
    except ValueError as error:
        raise BadRequest(f"A record's body cannot be kept as JSON: {error}") from error
    return text if len(text) <= BODY else to_json({"left_out": f"{len(text)} bytes"})


def _add(
    transaction: Transaction,
    session_id: str,
    encoded: Sequence[tuple[SessionRecord, Mapping[str, Any]]],
) -> None:
    floor = _find_last(transaction, session_id) - KEPT
    # Old ones that were removed must not come back, nor be counted twice.
    new = [
        record
        for record, values in encoded
        if record.number > floor and transaction.run(_INSERT, session_id=session_id, **values)
    ]
    add_figures(transaction, (figures for record in new for figures in list_figures(record)))
    transaction.run(
        "DELETE FROM records WHERE session_id = :session_id AND number <= :floor",
        session_id=session_id,
        floor=_find_last(transaction, session_id) - KEPT,
    )
    transaction.announce("records", session_id)


def _find_last(transaction: Transaction, session_id: str) -> int:
    found = transaction.run(
        "SELECT COALESCE(MAX(number), 0) AS last FROM records WHERE session_id = :session_id",
        session_id=session_id,
    )
    return int(found[0]["last"])


def _read(row: Row) -> SessionRecord:
    return SessionRecord(
        number=row["number"],
        time=row["recorded_at"],
        type=row["type"],
        event=row["event"],
        hook=row["hook"],
        turn=row["turn"],
        body=json.loads(row["body"]),
    )
