"""Approvals as rows of the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from amplifier_hooks.approvals.stores.engine import Row, Transaction
from amplifier_hooks.approvals.stores.errors import NotFound
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalRequest, Vote
from amplifier_hooks.approvals.stores.values.plain import read_request

CHUNK = 500
"""How many ids one statement names at most."""


def load(transaction: Transaction, approval_id: str) -> Approval:
    """The approval of that id; NotFound if there is none."""
    return load_with_key(transaction, approval_id)[0]


def load_with_key(transaction: Transaction, approval_id: str) -> tuple[Approval, str]:
    """The approval, and the key of the decision that was made."""
    rows = transaction.run(
        "SELECT *, unix_now() AS now FROM approvals WHERE id = :id", id=approval_id
    )
    if not rows:
        raise NotFound(f"There is no approval {approval_id!r}")
    return read_all(transaction, rows)[0], rows[0]["decision_key"]


def load_many(transaction: Transaction, ids: Iterable[str]) -> list[Approval]:
    """The approvals of those ids; those that do not exist are left out."""
    found: list[Approval] = []
    for chunk in split(list(ids)):
        names, values = name_values(chunk)
        statement = f"SELECT *, unix_now() AS now FROM approvals WHERE id IN ({names})"
        found += read_all(transaction, transaction.run(statement, **values))
    return found


def split(ids: Sequence[str]) -> list[Sequence[str]]:
    """The ids in portions that one statement can name."""
    return [ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK)]


def name_values(values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The text for a list within a statement, and the values that belong to it."""
    named = {f"v{number}": value for number, value in enumerate(values)}
    return ", ".join(f":{name}" for name in named), named


def read_all(
    transaction: Transaction, rows: Sequence[Row], request: ApprovalRequest | None = None
) -> list[Approval]:
    """The approvals of rows that have the store's time as `now`, with their votes.

    A request never changes, so one that is known need not be read again.
    """
    several = [row["id"] for row in rows if row["persons"] > 1]
    votes: dict[str, list[Vote]] = {}
    for chunk in split(several):
        names, values = name_values(chunk)
        statement = f"SELECT * FROM votes WHERE approval_id IN ({names}) ORDER BY voted_at"
        for vote in transaction.run(statement, **values):
            votes.setdefault(vote["approval_id"], []).append(_read_vote(vote))
    return [
        _read(row, request or read_request(json.loads(row["request"])), votes.get(row["id"], []))
        for row in rows
    ]


def _read_vote(row: Row) -> Vote:
    return Vote(row["voter"], row["via"], row["voted_at"], row["option_label"])


def _read(row: Row, request: ApprovalRequest, votes: Sequence[Vote]) -> Approval:
    pending = row["status"] == "pending"
    edited = row["edited_input"]
    return Approval(
        id=row["id"],
        nonce=row["nonce"],
        status=row["status"],
        request=request,
        created=row["created"],
        deadline=row["deadline"],
        updated=row["updated"],
        seconds_left=max(0.0, row["deadline"] - row["now"]) if pending else 0.0,
        votes=tuple(votes),
        option=row["option_label"],
        decided_by=row["decided_by"],
        decided_via=row["decided_via"],
        decided_at=row["decided_at"],
        comment=row["comment_text"],
        edited_input=None if edited is None else json.loads(edited),
        rule_id=row["rule_id"],
        fence=row["fence"],
        lease_until=row["lease_until"],
        outcome=row["outcome"],
    )
