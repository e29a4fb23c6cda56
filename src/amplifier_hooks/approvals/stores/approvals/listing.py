"""Pages of approvals, in the order of their creation."""

from __future__ import annotations

from typing import Any, get_args

from amplifier_hooks.approvals.stores.approvals import rows
from amplifier_hooks.approvals.stores.checks.paging import Position, read_limit, read_position
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.errors import BadRequest
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalFilter, Status

_COLUMNS = {
    "session_id": "session_id",
    "machine": "machine",
    "hook": "hook",
    "tool": "tool_name",
}


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
    page = rows.read_all(transaction, found[:limit])
    more = len(found) > limit
    return page, str(Position(page[-1].created, page[-1].id)) if more else ""


def _write_conditions(wanted: ApprovalFilter) -> tuple[list[str], dict[str, Any]]:
    conditions: list[str] = []
    values: dict[str, Any] = {}
    for field, column in _COLUMNS.items():
        if value := getattr(wanted, field):
            conditions.append(f"{column} = :{field}")
            values[field] = value
    if wanted.status:
        unknown = set(wanted.status) - set(get_args(Status))
        if unknown:
            raise BadRequest(
                f"There is no status {min(unknown)!r}; use {', '.join(get_args(Status))}"
            )
        names, named = rows.name_values(wanted.status)
        conditions.append(f"status IN ({names})")
        values |= named
    return conditions, values
