"""Approvals, for people: list them, wait for one, decide."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from amplifier_hooks.approvals.errors import BadRequest, StoreError
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Status
from amplifier_hooks.server.live.decisions import decide
from amplifier_hooks.server.live.waiting import MAX_WAIT, wait_while
from amplifier_hooks.server.services import Person, Reader, Services, Shared
from amplifier_hooks.server.wire.approval_answers import (
    ApprovalPage,
    ConflictAnswer,
    DescribedApproval,
    RefusalResults,
)
from amplifier_hooks.server.wire.bodies import DecisionBody, RefusalsBody, RefusedApproval
from amplifier_hooks.server.wire.encoding import answer
from amplifier_hooks.server.wire.errors import describe_error
from amplifier_hooks.server.wire.text import Id, Name

router = APIRouter(prefix="/approvals", tags=["approvals"])

Wait = Annotated[
    float, Query(ge=0, le=MAX_WAIT, allow_inf_nan=False, description="Seconds to wait for news.")
]


@router.get("", responses={200: {"model": ApprovalPage}})
async def list_approvals(
    _: Reader,
    services: Shared,
    status: Annotated[list[Status], Query(default_factory=list, max_length=9)],
    session: Name = "",
    machine: Name = "",
    hook: Name = "",
    tool: Name = "",
    order: Literal["new", "old"] = "old",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Name = "",
) -> Response:
    """Approvals, page by page; `status` may be given several times."""
    wanted = ApprovalFilter(
        tuple(status), session, machine, hook, tool, order == "new", limit, after
    )
    approvals, following = await services.store.approvals.list(wanted)
    return answer({"approvals": approvals, "next": following})


@router.get("/{id}", responses={200: {"model": DescribedApproval}})
async def get_approval(_: Reader, services: Shared, id: Id, wait: Wait = 0.0) -> Response:
    """One approval; with `wait`, as soon as it is no longer pending."""
    return answer(await wait_for_decision(services, id, wait))


@router.post(
    "/refusals",
    responses={200: {"model": RefusalResults}},
)
async def refuse_approvals(body: RefusalsBody, caller: Person, services: Shared) -> Response:
    """Refuse several approvals; each is told apart in the results."""

    async def refuse(one: RefusedApproval) -> dict[str, Any]:
        try:
            approval = await services.store.approvals.get(one.id)
            decision = DecisionBody(
                option=find_refusal(approval),
                nonce=one.nonce,
                key=body.key,
                comment=body.comment,
            )
            decided = await decide(services.store, caller, one.id, decision)
        except StoreError as error:
            found = describe_error(error)[1]
            known = found.get("approval")
            return {"id": one.id, "status": known.status if known else "", "error": found["error"]}
        return {"id": one.id, "status": decided.status, "error": None}

    return answer({"results": await asyncio.gather(*map(refuse, body.approvals))})


@router.post(
    "/{id}/decision",
    responses={200: {"model": DescribedApproval}, 409: {"model": ConflictAnswer}},
)
async def decide_approval(body: DecisionBody, caller: Person, services: Shared, id: Id) -> Response:
    """Decide. 409 with the approval if somebody, or its deadline, was first."""
    return answer(await decide(services.store, caller, id, body))


async def wait_for_decision(services: Services, id: str, seconds: float) -> Approval:
    """The approval, as soon as it is no longer pending."""
    return await wait_while(
        services.feed,
        ("approval", id),
        lambda: services.store.approvals.get(id),
        lambda approval: approval.status == "pending",
        seconds,
    )


def find_refusal(approval: Approval) -> int:
    """The option that refuses."""
    found = [one.id for one in approval.request.options if not one.allows]
    if not found:
        raise BadRequest("None of its options refuses")
    return found[0]
