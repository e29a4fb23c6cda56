"""Routes of agents: ask, wait, claim what was allowed, and report. Nothing here decides."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from amplifier_hooks.approvals.errors import NotAllowed, NotFound
from amplifier_hooks.approvals.models import (
    Approval,
    Claim,
    ClaimAnswer,
    DescribedApproval,
    RuleAnswer,
)
from amplifier_hooks.approvals.stores.approval_rows import list_requesters
from amplifier_hooks.server.answers import Done
from amplifier_hooks.server.bodies import (
    ApprovalRequestBody,
    ClaimBody,
    Id,
    RecordsBody,
    RenewalBody,
    ResultBody,
    SessionBody,
    WithdrawalBody,
)
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.encoding import answer, hide_nonce
from amplifier_hooks.server.routes.approvals import Wait, wait_for_decision
from amplifier_hooks.server.services import Agent, Services, Shared


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


router = APIRouter(prefix="/agent", tags=["agents"])

Fence = Annotated[int, Path(ge=0, le=2**53)]


@router.post("/approvals", status_code=201, responses={201: {"model": DescribedApproval}})
async def request_approval(body: ApprovalRequestBody, caller: Agent, services: Shared) -> Response:
    """Put a question; the same key again finds the approval that is there."""
    await refuse_foreign_session(services, caller, body.session_id)
    approval = await services.store.approvals.request(body.asked_by(caller.name))
    return answer(hide_nonce(approval), 201)


@router.get("/approvals/{id}", responses={200: {"model": DescribedApproval}})
async def get_approval(caller: Agent, services: Shared, id: Id, wait: Wait = 0.0) -> Response:
    """One of its own approvals; with `wait`, as soon as it is no longer pending."""
    await get_own_approval(services, caller, id)
    return answer(hide_nonce(await wait_for_decision(services, id, wait)))


@router.post("/approvals/{id}/withdrawal", responses={200: {"model": DescribedApproval}})
async def withdraw_approval(
    body: WithdrawalBody, caller: Agent, services: Shared, id: Id
) -> Response:
    """Stop asking; a decision that was made stands."""
    await get_own_approval(services, caller, id)
    withdrawn = await services.store.approvals.withdraw(
        id, by=body.by, option=body.option, reason=body.reason
    )
    return answer(hide_nonce(withdrawn))


@router.post("/claims", responses={200: {"model": ClaimAnswer}})
async def claim_call(body: ClaimBody, caller: Agent, services: Shared) -> Response:
    """The right to run a call, once."""
    await refuse_foreign_session(services, caller, body.session_id)
    await refuse_foreign_call(services, caller, body.session_id, body.tool_call_id)
    claim = await services.store.claims.claim(
        body.session_id, body.tool_call_id, body.digest, body.lease
    )
    return answer({"claim": claim})


@router.post("/claims/{fence}/renewal", responses={200: {"model": ClaimAnswer}})
async def renew_claim(body: RenewalBody, caller: Agent, services: Shared, fence: Fence) -> Response:
    """Keep a claim while the call runs."""
    await asyncio.gather(*(get_own_approval(services, caller, one) for one in body.approvals))
    claim = Claim(fence=fence, approvals=tuple(body.approvals), lease_until=0.0)
    return answer({"claim": await services.store.claims.renew(claim, body.lease)})


@router.post("/claims/{fence}/result", responses={200: {"model": Done}})
async def finish_claim(body: ResultBody, caller: Agent, services: Shared, fence: Fence) -> Response:
    """Say how the call ended."""
    await asyncio.gather(*(get_own_approval(services, caller, one) for one in body.approvals))
    await services.store.claims.finish(
        Claim(fence=fence, approvals=tuple(body.approvals), lease_until=0.0), body.outcome
    )
    return answer({"status": "done"})


@router.post("/rules/match", responses={200: {"model": RuleAnswer}})
async def match_rule(body: ApprovalRequestBody, caller: Agent, services: Shared) -> Response:
    """The standing rule that allows this; its use is counted."""
    await refuse_foreign_session(services, caller, body.session_id)
    rule = await services.store.rules.find_rule(body.asked_by(caller.name))
    return answer({"rule": rule})


@router.post("/sessions", responses={200: {"model": Done}})
async def save_session(body: SessionBody, caller: Agent, services: Shared) -> Response:
    """Put a session into the index, or renew it there."""
    for session in filter(None, (body.id, body.parent_id)):
        await refuse_foreign_session(services, caller, session)
    await services.store.sessions.save(body.reported_by(caller.name), body.transcript)
    return answer({"status": "done"})


@router.post("/sessions/{id}/records", responses={200: {"model": Done}})
async def publish_records(body: RecordsBody, caller: Agent, services: Shared, id: Id) -> Response:
    """Add records of the session's trail; known numbers are passed over."""
    await refuse_foreign_session(services, caller, id)
    await services.store.records.publish(id, body.records)
    return answer({"status": "done"})
