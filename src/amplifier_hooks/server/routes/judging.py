"""The routes of programs elsewhere: open a session, have events judged, keep it, end it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from amplifier_hooks.server.answers import ErrorAnswer
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.judging import bodies
from amplifier_hooks.server.judging.answers import EventAnswer, SessionAnswer
from amplifier_hooks.server.judging.judging import Judging
from amplifier_hooks.server.live.waiting import wait_unless_gone
from amplifier_hooks.server.services import Judge, Program

router = APIRouter(prefix="/judge/sessions", tags=["judging"])

REPLAYED = "idempotency-replayed"
_JUDGED: dict[int | str, dict[str, Any]] = {
    200: {"model": EventAnswer},
    410: {"model": ErrorAnswer, "description": "It was judged, and the answer is not kept."},
}
SessionId = Annotated[str, Path(max_length=200, description="As the answer to the opening has it.")]
EventId = Annotated[str, Path(max_length=200, description="As the program sent it.")]


@router.post("", status_code=201, responses={201: {"model": SessionAnswer}})
async def open_judged_session(body: bodies.NewSession, caller: Program, judge: Judge) -> Response:
    """Open a session; the same key again finds the same one."""
    content, replayed = await judge.open(body, caller.name)
    return _send(content, 201, replayed=replayed)


@router.get("/{session}", responses={200: {"model": SessionAnswer}})
async def get_judged_session(caller: Program, judge: Judge, session: SessionId) -> Response:
    """How a session stands; this renews nothing."""
    return answer(judge.describe(session, caller.name))


@router.post("/{session}/events", responses=_JUDGED)
async def judge_event(
    body: bodies.Event, request: Request, caller: Program, judge: Judge, session: SessionId
) -> Response:
    """Have an event judged; only 200 with the decision `allow` is a yes."""
    found = judge.find(session, caller.name)
    with found.hold():
        judging, replayed = found.take(body)
        await judging.wait_for_hooks(0.0)
        if body.wait and not judging.is_over:
            await wait_unless_gone(request, judging.wait_for_hooks(body.wait))
        return _send(found.write_answer(body.id, judging), replayed=replayed)


@router.get("/{session}/events/{id:path}", responses=_JUDGED)
async def get_judgement(
    request: Request,
    caller: Program,
    judge: Judge,
    session: SessionId,
    id: EventId,
    wait: Annotated[
        float, Query(ge=0, le=bodies.MAX_WAIT, allow_inf_nan=False, description="Seconds.")
    ] = 0.0,
) -> Response:
    """The judgement of an event; with `wait`, as soon as it is no longer pending."""
    found = judge.find(session, caller.name)
    with found.hold():
        judging: Judging = found.find(id)
        if wait and not judging.is_over:
            await wait_unless_gone(request, judging.wait(wait))
        return _send(found.write_answer(id, judging))


@router.post("/{session}/renewal", responses={200: {"model": SessionAnswer}})
async def renew_judged_session(
    _: bodies.Renewal, caller: Program, judge: Judge, session: SessionId
) -> Response:
    """Keep a session while nothing else is asked."""
    found = judge.find(session, caller.name)
    with found.hold():
        return answer(found.describe())


@router.post("/{session}/end", responses={200: {"model": SessionAnswer}})
async def end_judged_session(
    body: bodies.End, caller: Program, judge: Judge, session: SessionId
) -> Response:
    """End a session; calls that were not reported are recorded as unknown."""
    return _send(await judge.end(session, caller.name, body.reason))


def _send(content: bytes, status: int = 200, *, replayed: bool = False) -> Response:
    headers = {REPLAYED: "true"} if replayed else None
    return Response(content, status, headers, media_type="application/json")
