"""Which agent a session, a call or an approval is of: nobody asks or claims for another."""

from __future__ import annotations

from amplifier_hooks.approvals.errors import NotAllowed, NotFound
from amplifier_hooks.approvals.stores.engine import Transaction

# The first and the last name are found in the index, however much was asked in the session.
_OWNERS = """
SELECT
    (SELECT CASE WHEN hosted = 1 THEN '' ELSE user_name END FROM sessions
        WHERE id = :session_id) AS reporter,
    (SELECT min(requester) FROM approvals WHERE session_id = :session_id) AS first,
    (SELECT max(requester) FROM approvals WHERE session_id = :session_id) AS last
"""
_ASKERS = """
SELECT DISTINCT requester FROM approvals
WHERE session_id = :session_id AND tool_call_id = :tool_call_id
"""


def refuse_foreign_session(transaction: Transaction, agent: str, session_id: str) -> None:
    """Raise NotAllowed if the session is another agent's, by the index or by what it asked.

    A session that a server runs is nobody's but the server's, whatever people's names are.
    """
    (found,) = transaction.run(_OWNERS, session_id=session_id)
    owners = {found["first"], found["last"]} if found["reporter"] is None else {found["reporter"]}
    if not owners <= {agent, None}:
        raise NotAllowed(f"Session {session_id!r} was reported by somebody else than this token")


def refuse_foreign_call(
    transaction: Transaction, agent: str, session_id: str, tool_call_id: str
) -> None:
    """Raise NotAllowed if somebody else asked about the call."""
    found = transaction.run(_ASKERS, session_id=session_id, tool_call_id=tool_call_id)
    if any(row["requester"] != agent for row in found):
        raise NotAllowed("Somebody else than this token asked about this call")


def refuse_foreign_approvals(transaction: Transaction, agent: str, *approval_ids: str) -> None:
    """Raise NotFound for another's approval: the agent does not even learn that it exists."""
    for approval_id in approval_ids:
        found = transaction.run("SELECT requester FROM approvals WHERE id = :id", id=approval_id)
        if not found or found[0]["requester"] != agent:
            raise NotFound(f"There is no approval {approval_id!r}")
