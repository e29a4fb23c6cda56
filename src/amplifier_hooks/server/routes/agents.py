"""Routes of agents: ask, wait, claim what was allowed, and report. Nothing here decides."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from amplifier_hooks.approvals.models import Claim, ClaimAnswer, DescribedApproval, RuleAnswer
from amplifier_hooks.approvals.stores.engine import Check, Transaction
from amplifier_hooks.approvals.stores.ownership import (
    refuse_foreign_approvals,
    refuse_foreign_call,
    refuse_foreign_session,
)
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
from amplifier_hooks.server.encoding import answer, describe_for_agent
from amplifier_hooks.server.routes.approvals import Wait, wait_for_decision
from amplifier_hooks.server.services import Agent, Shared


def own_session(caller: Caller, *session_ids: str) -> Check:
    """That sessions are of nobody else than this agent; an empty id is none."""

    def check(transaction: Transaction) -> None:
        for session_id in filter(None, session_ids):
            refuse_foreign_session(transaction, caller.name, session_id)

    return check


def own_call(caller: Caller, session_id: str, tool_call_id: str) -> Check:
    """That a call is of nobody else than this agent."""

    def check(transaction: Transaction) -> None:
        refuse_foreign_session(transaction, caller.name, session_id)
        refuse_foreign_call(transaction, caller.name, session_id, tool_call_id)

    return check


def own_approvals(caller: Caller, *approval_ids: str) -> Check:
    """That this agent has asked for these approvals."""
    return lambda transaction: refuse_foreign_approvals(transaction, caller.name, *approval_ids)


router = APIRouter(prefix="/agent", tags=["agents"])

Fence = Annotated[int, Path(ge=0, le=2**53)]


@router.post("/approvals", status_code=201, responses={201: {"model": DescribedApproval}})
async def request_approval(body: ApprovalRequestBody, caller: Agent, services: Shared) -> Response:
    """Put a question; the same key again finds the approval that is there."""
    approval = await services.store.approvals.request(
        body.asked_by(caller.name), check=own_session(caller, body.session_id)
    )
    return answer(describe_for_agent(approval), 201)


@router.get("/approvals/{id}", responses={200: {"model": DescribedApproval}})
async def wait_for_approval(caller: Agent, services: Shared, id: Id, wait: Wait = 0.0) -> Response:
    """One of its own approvals; with `wait`, as soon as it is no longer pending."""
    approval = await wait_for_decision(services, id, wait, requester=caller.name)
    return answer(describe_for_agent(approval))


@router.post("/approvals/{id}/withdrawal", responses={200: {"model": DescribedApproval}})
async def withdraw_approval(
    body: WithdrawalBody, caller: Agent, services: Shared, id: Id
) -> Response:
    """Stop asking; a decision that was made stands."""
    withdrawn = await services.store.approvals.withdraw(
        id,
        by=body.by,
        option=body.option,
        reason=body.reason,
        check=own_approvals(caller, id),
    )
    return answer(describe_for_agent(withdrawn))


@router.post("/claims", responses={200: {"model": ClaimAnswer}})
async def claim_call(body: ClaimBody, caller: Agent, services: Shared) -> Response:
    """The right to run a call, once."""
    claim = await services.store.claims.claim(
        body.session_id,
        body.tool_call_id,
        body.digest,
        body.lease,
        check=own_call(caller, body.session_id, body.tool_call_id),
    )
    return answer({"claim": claim})


@router.post("/claims/{fence}/renewal", responses={200: {"model": ClaimAnswer}})
async def renew_claim(body: RenewalBody, caller: Agent, services: Shared, fence: Fence) -> Response:
    """Keep a claim while the call runs."""
    claim = Claim(fence=fence, approvals=tuple(body.approvals), lease_until=0.0)
    renewed = await services.store.claims.renew(
        claim, body.lease, check=own_approvals(caller, *body.approvals)
    )
    return answer({"claim": renewed})


@router.post("/claims/{fence}/result", responses={200: {"model": Done}})
async def finish_claim(body: ResultBody, caller: Agent, services: Shared, fence: Fence) -> Response:
    """Say how the call ended."""
    claim = Claim(fence=fence, approvals=tuple(body.approvals), lease_until=0.0)
    await services.store.claims.finish(
        claim, body.outcome, check=own_approvals(caller, *body.approvals)
    )
    return answer({"status": "done"})


@router.post("/rules/match", responses={200: {"model": RuleAnswer}})
async def match_rule(body: ApprovalRequestBody, caller: Agent, services: Shared) -> Response:
    """The standing rule that allows this; its use is counted."""
    rule = await services.store.rules.find_rule(
        body.asked_by(caller.name), check=own_session(caller, body.session_id)
    )
    return answer({"rule": rule})


@router.post("/sessions", responses={200: {"model": Done}})
async def save_session(body: SessionBody, caller: Agent, services: Shared) -> Response:
    """Put a session into the index, or renew it there."""
    await services.store.sessions.save(
        body.reported_by(caller.name),
        body.transcript,
        check=own_session(caller, body.id, body.parent_id),
    )
    return answer({"status": "done"})


@router.post("/sessions/{id}/records", responses={200: {"model": Done}})
async def publish_records(body: RecordsBody, caller: Agent, services: Shared, id: Id) -> Response:
    """Add records of the session's trail; known numbers are passed over."""
    await services.store.records.publish(id, body.records, check=own_session(caller, id))
    return answer({"status": "done"})
