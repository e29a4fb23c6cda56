"""What is whose: an agent sees and touches only what its own token asked or reported."""

from __future__ import annotations

from amplifier_hooks.approvals.errors import NotAllowed, NotFound
from amplifier_hooks.approvals.models import Approval
from amplifier_hooks.approvals.stores.approval_rows import list_requesters
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.services import Services


async def get_own_approval(services: Services, caller: Caller, id: str) -> Approval:
    """An approval that this agent asked for; of another's it does not even learn that it exists."""
    approval = await services.store.approvals.get(id)
    if approval.request.requester != caller.name:
        raise NotFound(f"There is no approval {id!r}")
    return approval


async def refuse_foreign_session(services: Services, caller: Caller, session_id: str) -> None:
    """Raise NotAllowed if the session is another agent's, by the index or by what it asked.

    A session that a server runs is nobody's but the server's, whatever people's names are.
    """
    try:
        session = await services.store.sessions.get(session_id)
        owners = frozenset({"" if session.hosted else session.user})
    except NotFound:
        owners = await list_requesters(services.store.engine, session_id)
    if not owners <= {caller.name}:
        raise NotAllowed(f"Session {session_id!r} was reported by somebody else than this token")


async def refuse_foreign_call(
    services: Services, caller: Caller, session_id: str, tool_call_id: str
) -> None:
    """Raise NotAllowed if somebody else asked about the call."""
    owners = await list_requesters(services.store.engine, session_id, tool_call_id)
    if not owners <= {caller.name}:
        raise NotAllowed("Somebody else than this token asked about this call")
