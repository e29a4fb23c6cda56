"""Putting a question: within its limits, durably, and once for each key."""

from __future__ import annotations

import secrets

from amplifier_hooks.approvals.stores.approvals import rows
from amplifier_hooks.approvals.stores.checks.fields import write_json
from amplifier_hooks.approvals.stores.checks.limits import INPUT, PREVIEW, refuse_bad_request
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.errors import Conflict, TooMany
from amplifier_hooks.approvals.stores.values.approval import Approval, ApprovalRequest

PENDING_OF_SESSION = 1_000
PENDING = 100_000

_INSERT = """
INSERT INTO approvals (
    id, request_key, nonce, status, session_id, tool_call_id, hook, event, tool_name, machine,
    requester, digest, default_answer, persons, request, created, deadline, updated
)
SELECT
    :id, :request_key, :nonce, 'pending', :session_id, :tool_call_id, :hook, :event, :tool_name,
    :machine, :requester, :digest, :default_answer, :persons, :request, clock.now,
    clock.now + :timeout, clock.now
FROM (SELECT unix_now() AS now) AS clock
WHERE TRUE
ON CONFLICT (request_key) DO NOTHING
RETURNING *, created AS now
"""
_COUNT_SESSION = """
SELECT count(*) AS pending FROM approvals
WHERE session_id = :session_id AND status = 'pending' AND deadline > :now
"""
# Counts no further than the limit.
_COUNT = """
SELECT count(*) AS pending FROM (
    SELECT 1 FROM approvals WHERE status = 'pending' AND deadline > unix_now() LIMIT :most
) AS counted
"""


class Room:
    """How many more may wait in the store. To count them all for every one would take longest."""

    def __init__(self) -> None:
        self._sure = 0

    def refuse_full(self, transaction: Transaction) -> None:
        """Raise TooMany if this one, which is there, is one too many."""
        if self._sure > 0:
            self._sure -= 1
            return
        waiting = transaction.run(_COUNT, most=PENDING + 1)[0]["pending"]
        if waiting > PENDING:
            raise TooMany(f"{PENDING} approvals wait for a person in this store; no more can")
        # Others add as well: none of a few processes can overrun what is left.
        self._sure = min(1_000, (PENDING - waiting) // 16)


def encode_request(request: ApprovalRequest) -> str:
    """The request as text; BadRequest if it cannot be asked."""
    refuse_bad_request(request)
    encoded = write_json("request", request, INPUT + 2 * PREVIEW)
    if len(encoded) > INPUT:
        write_json("tool_input", request.tool_input, INPUT)
    return encoded


def put_request(
    transaction: Transaction, request: ApprovalRequest, encoded: str, room: Room
) -> Approval:
    """Insert the question, or find the one that was put with the same key."""
    inserted = transaction.run(
        _INSERT,
        id=secrets.token_hex(16),
        request_key=request.key,
        nonce=secrets.token_urlsafe(16),
        session_id=request.session_id,
        tool_call_id=request.tool_call_id,
        hook=request.hook,
        event=request.event,
        tool_name=request.tool_name,
        machine=request.machine,
        requester=request.requester,
        digest=request.digest,
        default_answer=request.default,
        persons=request.requirement.persons,
        request=encoded,
        timeout=float(request.timeout),
    )
    if not inserted:
        return _find(transaction, request)
    approval = rows.read_all(transaction, inserted, request)[0]
    # Raising here takes it back.
    _refuse_too_many(transaction, approval)
    room.refuse_full(transaction)
    transaction.announce("approval", approval.id)
    return approval


def _find(transaction: Transaction, request: ApprovalRequest) -> Approval:
    found = transaction.run(
        "SELECT *, unix_now() AS now FROM approvals WHERE request_key = :key", key=request.key
    )
    approval = rows.read_all(transaction, found)[0]
    if _identify(approval.request) != _identify(request):
        raise Conflict(f"The key {request.key!r} belongs to another request; use a new one")
    return approval


def _identify(request: ApprovalRequest) -> tuple[str, ...]:
    return (
        request.session_id,
        request.tool_call_id,
        request.hook,
        request.event,
        request.prompt,
        request.digest,
        request.requester,
    )


def _refuse_too_many(transaction: Transaction, approval: Approval) -> None:
    session_id = approval.request.session_id
    found = transaction.run(_COUNT_SESSION, session_id=session_id, now=approval.created)
    if found[0]["pending"] > PENDING_OF_SESSION:
        raise TooMany(
            f"Session {session_id!r} has {PENDING_OF_SESSION} approvals that wait for a person; "
            "no more can"
        )
