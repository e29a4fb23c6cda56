"""Approvals as rows of the database: load them, list them, and whose they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    ApprovalRequest,
    Status,
    Vote,
)
from amplifier_hooks.approvals.stores.checks import Position, read_limit, read_position
from amplifier_hooks.approvals.stores.engine import Row, Transaction, read_row

CHUNK = 500
"""How many ids one statement names at most."""


def load_approval(transaction: Transaction, approval_id: str) -> Approval:
    """The approval of that id; NotFound if there is none."""
    return load_with_key(transaction, approval_id)[0]


def load_with_key(transaction: Transaction, approval_id: str) -> tuple[Approval, str]:
    """The approval, and the key of the decision that was made."""
    rows = transaction.run(
        "SELECT *, unix_now() AS now FROM approvals WHERE id = :id", id=approval_id
    )
    if not rows:
        raise NotFound(f"There is no approval {approval_id!r}")
    return read_approvals(transaction, rows)[0], rows[0]["decision_key"]


def load_approvals(transaction: Transaction, ids: Iterable[str]) -> list[Approval]:
    """The approvals of those ids; those that do not exist are left out."""
    found: list[Approval] = []
    for chunk in split_ids(list(ids)):
        names, values = name_values(chunk)
        statement = f"SELECT *, unix_now() AS now FROM approvals WHERE id IN ({names})"
        found += read_approvals(transaction, transaction.run(statement, **values))
    return found


def split_ids(ids: Sequence[str]) -> list[Sequence[str]]:
    """The ids in portions that one statement can name."""
    return [ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK)]


def name_values(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The text for a list within a statement, and the values that belong to it.

    The last value is repeated: so there are few different statements, which stay prepared.
    """
    wanted = 1 << (len(values) - 1).bit_length()
    padded = [*values, *list(values[-1:]) * (wanted - len(values))]
    named = {f"v{number}": value for number, value in enumerate(padded)}
    return ", ".join(f":{name}" for name in named), named


def read_approvals(
    transaction: Transaction, rows: Sequence[Row], request: ApprovalRequest | None = None
) -> list[Approval]:
    """The approvals of rows that have the store's time as `now`, with their votes.

    A request never changes, so one that is known need not be read again.
    """
    several = [row["id"] for row in rows if row["persons"] > 1]
    votes: dict[str, list[Vote]] = {}
    for chunk in split_ids(several):
        names, values = name_values(chunk)
        statement = f"SELECT * FROM votes WHERE approval_id IN ({names}) ORDER BY voted_at"
        for vote in transaction.run(statement, **values):
            votes.setdefault(vote["approval_id"], []).append(_read_vote(vote))
    return [
        _read_approval(row, request or _read_request(row), votes.get(row["id"], [])) for row in rows
    ]


def _read_request(row: Row) -> ApprovalRequest:
    return ApprovalRequest.model_validate(json.loads(row["request"]))


def _read_vote(row: Row) -> Vote:
    return read_row(Vote, row, by=row["voter"], at=row["voted_at"], option=row["option_label"])


def _read_approval(row: Row, request: ApprovalRequest, votes: Sequence[Vote]) -> Approval:
    pending = row["status"] == "pending"
    edited = row["edited_input"]
    return read_row(
        Approval,
        row,
        request=request,
        seconds_left=max(0.0, row["deadline"] - row["now"]) if pending else 0.0,
        votes=tuple(votes),
        option=row["option_label"],
        comment=row["comment_text"],
        edited_input=None if edited is None else json.loads(edited),
    )


_COLUMNS = {"machine": "machine", "hook": "hook", "tool": "tool_name"}
_OPEN = frozenset({"pending", "approved", "executing"})


def list_approvals(transaction: Transaction, wanted: ApprovalFilter) -> tuple[list[Approval], str]:
    """One page, and where the next one begins; empty if there is none."""
    limit = read_limit(wanted.limit)
    conditions, values = _write_conditions(wanted)
    position = read_position(wanted.after)
    order, sign = ("DESC", "<") if wanted.newest_first else ("ASC", ">")
    if position is not None:
        conditions.append(f"(created {sign} :at OR (created = :at AND id {sign} :id))")
        values |= {"at": position.at, "id": position.id}
    where = " AND ".join(conditions) or "TRUE"
    found = transaction.run(
        f"SELECT *, unix_now() AS now FROM approvals WHERE {where} "
        f"ORDER BY created {order}, id {order} LIMIT :most",
        **values,
        most=limit + 1,
    )
    page = read_approvals(transaction, found[:limit])
    more = len(found) > limit
    return page, str(Position(page[-1].created, page[-1].id)) if more else ""


def _write_conditions(wanted: ApprovalFilter) -> tuple[list[str], dict[str, Any]]:
    conditions: list[str] = []
    values: dict[str, Any] = {}
    # Few wait or run: they are found by their state, where SQLite would look at all of a hook.
    by_status = bool(wanted.status) and _OPEN.issuperset(wanted.status)
    for field, column in _COLUMNS.items():
        if value := getattr(wanted, field):
            conditions.append(f"{column} || '' = :{field}" if by_status else f"{column} = :{field}")
            values[field] = value
    if wanted.session_id:
        conditions.append("session_id = :session_id")
        values["session_id"] = wanted.session_id
    if wanted.status:
        unknown = set(wanted.status) - set(get_args(Status))
        if unknown:
            raise BadRequest(
                f"There is no status {min(unknown)!r}; use {', '.join(get_args(Status))}"
            )
        names, named = name_values(wanted.status)
        conditions.append(f"status IN ({names})")
        values |= named
    return conditions, values
