"""Whose approvals those of a call are."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.engine import Engine, Transaction

_REQUESTERS = """
SELECT DISTINCT requester FROM approvals
WHERE session_id = :session_id AND (:tool_call_id = '' OR tool_call_id = :tool_call_id)
"""


async def list_requesters(
    engine: Engine, session_id: str, tool_call_id: str = ""
) -> frozenset[str]:
    """Who asked about a call, or about anything in a session."""

    def read(transaction: Transaction) -> frozenset[str]:
        rows = transaction.run(_REQUESTERS, session_id=session_id, tool_call_id=tool_call_id)
        return frozenset(row["requester"] for row in rows)

    return await engine.read(read)
