"""The index of sessions, with their transcripts, and the records of their trails.

The records are a copy for people to look at: the trail of record is the audit log, and what was
dropped on the way is not here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from amplifier_hooks.approvals.encoding import TooDeep, to_kept_json
from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord
from amplifier_hooks.approvals.stores.checks import (
    NAME,
    PATH,
    Position,
    clean_text,
    read_limit,
    read_name,
    read_position,
    read_seconds,
)
from amplifier_hooks.approvals.stores.engine import (
    Check,
    Engine,
    Row,
    Transaction,
    do_after,
    read_row,
)
from amplifier_hooks.approvals.stores.statistics import add_figures, list_figures

KEPT = 20_000
"""How many records of a session are kept: the newest."""
BATCH = 1_000
BODY = 256 * 1024
LONGEST_NAME = 400
LAST = 2**53

_ADD_RECORD = """
INSERT INTO records (session_id, number, recorded_at, type, event, hook, turn, body)
VALUES (:session_id, :number, :recorded_at, :type, :event, :hook, :turn, :body)
ON CONFLICT (session_id, number) DO NOTHING
RETURNING number
"""
_LIST_RECORDS = """
SELECT * FROM records WHERE session_id = :session_id AND number > :after
ORDER BY number LIMIT :most
"""
FoundRecords = list[SessionRecord]


class Records:
    """What sessions published of their trails."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def publish(
        self, session_id: str, records: Sequence[SessionRecord], *, check: Check | None = None
    ) -> None:
        """Add records; those whose number is known are passed over."""
        read_name("session_id", session_id)
        if len(records) > BATCH:
            raise BadRequest(f"{len(records)} records at once; at most {BATCH} are taken")
        encoded = [(record, _encode(record)) for record in records]
        if encoded:
            work = partial(_add, session_id=session_id, encoded=encoded)
            await self._engine.write(do_after(check, work))

    async def read(self, session_id: str, after: int = 0, limit: int = 500) -> FoundRecords:
        """The records that follow on a number, in order."""
        most = read_limit(limit)
        rows = await self._engine.read(
            lambda transaction: transaction.run(
                _LIST_RECORDS, session_id=session_id, after=after, most=most
            ),
            one_state=False,
        )
        return [_read_record(row) for row in rows]


def _encode(record: SessionRecord) -> dict[str, Any]:
    if not 1 <= record.number <= LAST:
        raise BadRequest(f"A record's number is 1 or more, not {record.number!r}")
    if not math.isfinite(record.time):
        raise BadRequest(f"A record's time is in seconds since 1970, not {record.time!r}")
    return {
        "number": record.number,
        "recorded_at": record.time,
        "type": clean_text(record.type, LONGEST_NAME),
        "event": clean_text(record.event, LONGEST_NAME),
        "hook": clean_text(record.hook, LONGEST_NAME),
        "turn": record.turn,
        "body": _encode_body(record.body),
    }


def _encode_body(body: Mapping[str, Any]) -> str:
    try:
        text = to_kept_json(body)
    except TooDeep as error:
        return to_kept_json({"left_out": str(error)})
    except ValueError as error:
        raise BadRequest(f"A record's body cannot be kept as JSON: {error}") from error
    return text if len(text) <= BODY else to_kept_json({"left_out": f"{len(text)} bytes"})


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
        if record.number > floor and transaction.run(_ADD_RECORD, session_id=session_id, **values)
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


def _read_record(row: Row) -> SessionRecord:
    return read_row(SessionRecord, row, time=row["recorded_at"], body=json.loads(row["body"]))


TEXT = 64 * 1024
TRANSCRIPT = 4 * 1024 * 1024
OVER = ("ended", "failed", "lost")

_SAVE = """
INSERT INTO sessions (
    id, machine, user_name, name, bundle, working_dir, status, created, updated, turns, reply,
    error, parent_id, hosted
) VALUES (
    :id, :machine, :user_name, :name, :bundle, :working_dir, :status,
    CASE WHEN :created > 0 THEN :created ELSE unix_now() END, unix_now(), :turns, :reply, :error,
    :parent_id, :hosted
)
ON CONFLICT (id) DO UPDATE SET
    machine = excluded.machine, user_name = excluded.user_name, name = excluded.name,
    bundle = excluded.bundle, working_dir = excluded.working_dir, status = excluded.status,
    updated = excluded.updated, turns = excluded.turns, reply = excluded.reply,
    error = excluded.error, parent_id = excluded.parent_id, hosted = excluded.hosted
"""
_SAVE_TRANSCRIPT = """
INSERT INTO transcripts (session_id, messages) VALUES (:session_id, :messages)
ON CONFLICT (session_id) DO UPDATE SET messages = excluded.messages
"""
_LOSE = """
UPDATE sessions SET status = 'lost'
WHERE status IN ('running', 'waiting', 'idle') AND updated <= unix_now() - :silence
RETURNING *
"""
_OLD = """
SELECT id FROM sessions
WHERE status IN ('ended', 'failed', 'lost') AND updated <= unix_now() - :age LIMIT 100
"""
Found = list[SessionEntry]  # within the class, `list` is a method


class Sessions:
    """The sessions that reported to this store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def save(
        self,
        entry: SessionEntry,
        transcript: Sequence[Mapping[str, Any]] | None = None,
        *,
        check: Check | None = None,
    ) -> None:
        """Put a session into the index, or renew it there; without a transcript, the old stays.

        The store's own clock says when it was last heard of.
        """
        values = _read_entry(entry)
        messages = None if transcript is None else encode_transcript(transcript)
        work = partial(_save, values=values, messages=messages)
        await self._engine.write(do_after(check, work))

    async def get(self, session_id: str) -> SessionEntry:
        """The session of that id; NotFound if it never reported."""
        return await self._engine.read(
            lambda transaction: _load(transaction, session_id), one_state=False
        )

    async def list(
        self,
        status: Sequence[str] = (),
        machine: str = "",
        limit: int = 100,
        after: str = "",
    ) -> tuple[Found, str]:
        """One page, the newest first, and the `after` of the next one; empty if there is none."""
        most = read_limit(limit)
        statement, values = _write_query(tuple(status), machine, after)
        rows = await self._engine.read(
            lambda transaction: transaction.run(statement, **values, most=most + 1)
        )
        page = [_read(row) for row in rows[:most]]
        return page, str(Position(page[-1].created, page[-1].id)) if len(rows) > most else ""

    async def transcript(self, session_id: str) -> Messages:
        """The conversation as it was last saved; empty if none was."""
        return await self._engine.read(
            lambda transaction: _load_transcript(transaction, session_id)
        )

    async def mark_lost(self, older_than: float) -> Found:
        """Mark the sessions that have been silent for longer than these seconds."""
        silence = read_seconds("silence", older_than, 366 * 24 * 3600.0)
        return await self._engine.write(lambda transaction: _mark_lost(transaction, silence))

    async def remove_older(self, seconds: float) -> int:
        """Remove the sessions that ended longer ago, with their records; returns how many."""
        age = read_seconds("age", seconds, 100 * 366 * 24 * 3600.0)
        removed = 0
        while portion := await self._engine.write(lambda transaction: _remove(transaction, age)):
            removed += portion
        return removed


Messages = list[dict[str, Any]]


def encode_transcript(messages: Sequence[Mapping[str, Any]]) -> str:
    """The newest messages that fit, as JSON; the first entry says how many were left out."""
    kept: list[str] = []
    size = 0
    for message in reversed(messages):
        text = _encode_message(message)
        size += len(text) + 1
        if size > TRANSCRIPT:
            break
        kept.append(text)
    if len(kept) < len(messages):
        kept.append(to_kept_json({"left_out": len(messages) - len(kept)}))
    return f"[{','.join(reversed(kept))}]"


def _encode_message(message: Mapping[str, Any]) -> str:
    try:
        return to_kept_json(message)
    except TooDeep as error:
        return to_kept_json({"role": str(message.get("role"))[:20], "left_out": str(error)})
    except ValueError as error:
        raise BadRequest(f"A message cannot be kept as JSON: {error}") from error


def _read_entry(entry: SessionEntry) -> dict[str, Any]:
    names = {"machine": NAME, "bundle": PATH, "working_dir": PATH, "parent_id": NAME}
    return {
        "id": read_name("id", entry.id),
        **{
            name: read_name(name, getattr(entry, name), may_be_empty=True, most=most)
            for name, most in names.items()
        },
        "user_name": read_name("user", entry.user, may_be_empty=True),
        "name": clean_text(entry.name, TEXT),
        "status": entry.status,
        "created": entry.created,
        "turns": entry.turns,
        "reply": clean_text(entry.reply, TEXT),
        "error": clean_text(entry.error, TEXT),
        "hosted": int(entry.hosted),
    }


def _save(transaction: Transaction, values: Mapping[str, Any], messages: str | None) -> None:
    transaction.run(_SAVE, **values)
    if messages is not None:
        transaction.run(_SAVE_TRANSCRIPT, session_id=values["id"], messages=messages)
    transaction.announce("session", values["id"])


def _load(transaction: Transaction, session_id: str) -> SessionEntry:
    found = transaction.run("SELECT * FROM sessions WHERE id = :id", id=session_id)
    if not found:
        raise NotFound(f"There is no session {session_id!r}")
    return _read(found[0])


def _load_transcript(transaction: Transaction, session_id: str) -> Messages:
    _load(transaction, session_id)
    found = transaction.run(
        "SELECT messages FROM transcripts WHERE session_id = :id", id=session_id
    )
    messages: Messages = json.loads(found[0]["messages"]) if found else []
    return messages


def _write_query(status: Sequence[str], machine: str, after: str) -> tuple[str, dict[str, Any]]:
    conditions = ["TRUE"]
    values = dict[str, Any]()
    if status:
        values |= {f"status{number}": one for number, one in enumerate(status)}
        conditions.append(f"status IN ({', '.join(f':{name}' for name in values)})")
    if machine:
        conditions.append("machine = :machine")
        values["machine"] = machine
    position = read_position(after)
    if position is not None:
        conditions.append("(created < :at OR (created = :at AND id < :id))")
        values |= {"at": position.at, "id": position.id}
    where = " AND ".join(conditions)
    order = "ORDER BY created DESC, id DESC LIMIT :most"
    return f"SELECT * FROM sessions WHERE {where} {order}", values


def _mark_lost(transaction: Transaction, silence: float) -> Found:
    lost = [_read(row) for row in transaction.run(_LOSE, silence=silence)]
    for entry in lost:
        transaction.announce("session", entry.id)
    return lost


def _remove(transaction: Transaction, age: float) -> int:
    old = [row["id"] for row in transaction.run(_OLD, age=age)]
    for session_id in old:
        for table, column in (
            ("records", "session_id"),
            ("transcripts", "session_id"),
            ("sessions", "id"),
        ):
            transaction.run(f"DELETE FROM {table} WHERE {column} = :id", id=session_id)
        transaction.announce("session", session_id)
    return len(old)


def _read(row: Row) -> SessionEntry:
    return read_row(SessionEntry, row, user=row["user_name"], hosted=bool(row["hosted"]))
