"""Sessions: the index, what happened in one, and what was said."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from amplifier_hooks.approvals.models import Approval, ApprovalFilter, SessionEntry, SessionStatus
from amplifier_hooks.server.live.waiting import MAX_WAIT, wait_while
from amplifier_hooks.server.services import Reader, Services, Shared
from amplifier_hooks.server.wire.encoding import answer, to_plain
from amplifier_hooks.server.wire.session_answers import (
    DescribedSession,
    RecordPage,
    SessionPage,
    Transcript,
)
from amplifier_hooks.server.wire.text import Id, Name

router = APIRouter(prefix="/sessions", tags=["sessions"])

Wait = Annotated[float, Query(ge=0, le=MAX_WAIT, allow_inf_nan=False)]
_MOST_REQUIRED = 100
_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.0)


@router.get("", responses={200: {"model": SessionPage}})
async def list_sessions(
    _: Reader,
    services: Shared,
    status: Annotated[list[SessionStatus], Query(default_factory=list, max_length=6)],
    machine: Name = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Name = "",
) -> Response:
    """Sessions of all machines, the newest first."""
    sessions, following = await services.store.sessions.list(
        status=tuple(status), machine=machine, limit=limit, after=after
    )
    return answer({"sessions": sessions, "next": following})


@router.get("/{id}", responses={200: {"model": DescribedSession}})
async def get_session(
    _: Reader,
    services: Shared,
    id: Id,
    wait: Wait = 0.0,
    status: Annotated[SessionStatus | None, Query(alias="while")] = None,
) -> Response:
    """One session; with `wait` and `while`, as soon as its status is another one."""
    return answer(await describe_session(services, await wait_for(services, id, wait, status)))


@router.get("/{id}/records", responses={200: {"model": RecordPage}})
async def list_records(
    _: Reader,
    services: Shared,
    id: Id,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
    wait: Wait = 0.0,
) -> Response:
    """What happened after record `after`; with `wait`, as soon as there is something."""
    await services.store.sessions.get(id)
    records = await wait_while(
        services.feed,
        ("records", id),
        lambda: services.store.records.read(id, after=after, limit=limit),
        lambda found: not found,
        wait,
    )
    return answer({"records": records})


@router.get("/{id}/transcript", responses={200: {"model": Transcript}})
async def get_transcript(_: Reader, services: Shared, id: Id) -> Response:
    """The messages, as they were after the last turn."""
    await services.store.sessions.get(id)
    return answer({"messages": await services.store.sessions.transcript(id)})


async def wait_for(services: Services, id: str, seconds: float, status: str | None) -> SessionEntry:
    """The session, as soon as its status is not that one; by default, another than now."""
    before = status or (await services.store.sessions.get(id)).status
    return await wait_while(
        services.feed,
        ("session", id),
        lambda: services.store.sessions.get(id),
        lambda entry: entry.status == before,
        seconds,
    )


async def describe_session(services: Services, entry: SessionEntry) -> dict[str, Any]:
    """A session for clients; while it waits, with the approvals that it waits for."""
    described: dict[str, Any] = to_plain(entry)
    if entry.status == "waiting":
        described["approval_required"] = await _find_required(services, entry.id)
    return described


async def _find_required(services: Services, session_id: str) -> list[Approval]:
    """What a session waits for; it says that it waits a moment before its question is there."""
    wanted = ApprovalFilter(("pending",), session_id=session_id, limit=_MOST_REQUIRED)
    for pause in _PAUSES:
        found, _ = await services.store.approvals.list(wanted)
        if found:
            return found
        await asyncio.sleep(pause)
    return []
