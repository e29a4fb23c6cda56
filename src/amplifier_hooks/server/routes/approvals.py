"""Approvals, for people: list them, wait for one, decide; as a stream; and standing rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from amplifier_hooks.approvals.errors import BadRequest, NotFound, StoreError, TooMany
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    ApprovalPage,
    DescribedApproval,
    RuleList,
    StandingRule,
    Status,
)
from amplifier_hooks.server.answers import ConflictAnswer, RefusalResults
from amplifier_hooks.server.bodies import DecisionBody, Id, Name, RefusalsBody, RefusedApproval
from amplifier_hooks.server.callers import Caller, decide, identify_again
from amplifier_hooks.server.encoding import answer, describe_error
from amplifier_hooks.server.live.feed import MAX_WAIT, wait_while
from amplifier_hooks.server.live.hub import Subscriber
from amplifier_hooks.server.services import Person, Reader, Services, Shared

router = APIRouter(prefix="/approvals", tags=["approvals"])

_KEEP_SECONDS = 15.0


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def stream_approvals(caller: Reader, services: Shared) -> StreamingResponse:
    """First every pending approval, then each one that changes: `event: approval`."""
    if not services.hub.has_room:
        raise TooMany("Too many clients are connected already; try again later")
    events = _write_events(services, caller)
    return StreamingResponse(events, media_type="text/event-stream")


async def _write_events(services: Services, caller: Caller) -> AsyncIterator[str]:
    async def is_known() -> bool:
        return await identify_again(services.store.access, caller) is not None

    with services.hub.subscribe(is_known) as subscriber:
        yield ": connected\n\n"
        for update in await services.hub.pending.read():
            yield update.event
        async for event in _follow(subscriber):
            yield event


async def _follow(subscriber: Subscriber) -> AsyncIterator[str]:
    while True:
        try:
            async with asyncio.timeout(_KEEP_SECONDS):
                update = await subscriber.take()
        except TimeoutError:
            yield ": still here\n\n"
            continue
        if update is None:
            return
        if update.type == "approval":
            yield update.event


rules_router = APIRouter(prefix="/rules", tags=["rules"])


@rules_router.get("", responses={200: {"model": RuleList}})
async def list_rules(_: Reader, services: Shared, ended: bool = False) -> Response:
    """The rules that hold; with `ended`, also those that no longer do."""
    return answer({"rules": await services.store.rules.list(include_ended=ended)})


@rules_router.post("/{id}/revocation", responses={200: {"model": StandingRule}})
async def revoke_rule(caller: Person, services: Shared, id: Id) -> Response:
    """Take a rule back; from then on people are asked again."""
    return answer(await services.store.rules.revoke(id, caller.name))


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


async def wait_for_decision(
    services: Services, id: str, seconds: float, requester: str | None = None
) -> Approval:
    """The approval, as soon as it is no longer pending; NotFound if another agent asks for it."""

    async def read() -> Approval:
        approval = await services.store.approvals.get(id)
        if requester not in (None, approval.request.requester):
            raise NotFound(f"There is no approval {id!r}")
        return approval

    return await wait_while(
        services.feed,
        ("approval", id),
        read,
        lambda approval: approval.status == "pending",
        seconds,
    )


def find_refusal(approval: Approval) -> int:
    """The option that refuses."""
    found = [one.id for one in approval.request.options if not one.allows]
    if not found:
        raise BadRequest("None of its options refuses")
    return found[0]
