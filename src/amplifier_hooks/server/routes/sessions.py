"""Sessions: the index, what happened in one, what was said, its trail and its report."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from starlette.responses import Response

from amplifier_audit import AuditError, Report, verify
from amplifier_audit.record import name_log
from amplifier_audit.report import report_to_dict
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    SessionEntry,
    SessionStatus,
    TrailHead,
)
from amplifier_hooks.insight.reports import Format, report_session
from amplifier_hooks.insight.reports.collect import measure_trail
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.server.answers import (
    DescribedSession,
    RecordPage,
    SessionPage,
    TrailAnswer,
    Transcript,
)
from amplifier_hooks.server.bodies import Id, Name
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.live.feed import MAX_WAIT, wait_while
from amplifier_hooks.server.services import Reader, Services, Shared
from amplifier_hooks.text.short_ids import shorten_id

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get("/{id}/trail", responses={200: {"model": TrailAnswer}})
async def get_trail(_: Reader, services: Shared, id: Id) -> Response:
    """The verdict on the trail, and where it comes from."""
    await services.store.sessions.get(id)
    head = await _find_head(services, id)
    folder = find_data_home() / "amplifier" / "audit" / name_log(id)
    if not await asyncio.to_thread(folder.is_dir):
        return answer(_describe_head(head))
    try:
        async with services.verifying:
            report = await asyncio.to_thread(_verify, folder, id)
    except (AuditError, OSError) as error:
        return answer({**_describe_head(head), "message": f"The trail cannot be read: {error}"})
    return answer(_describe_report(report, head))


def _verify(folder: Path, session: str) -> Report:
    return verify(folder, session=session)


async def _find_head(services: Services, session: str) -> TrailHead | None:
    heads = await services.store.heads.list(name_log(session))
    return max(heads, key=lambda one: one.seen, default=None)


def _describe_report(report: Report, head: TrailHead | None) -> dict[str, Any]:
    told = report_to_dict(report)
    finding = told["finding"]
    return {
        "source": "folder",
        "verdict": told["verdict"],
        "size": told["size"],
        "proven": told["proven_to"],
        "findings": [finding] if finding else [],
        "head": head,
        "message": "Verified on the server's machine.",
    }


def _describe_head(head: TrailHead | None) -> dict[str, Any]:
    if head:
        message = "The trail is on another machine; its last witnessed checkpoint is shown."
    else:
        message = "The trail is on another machine, and no witness has seen it."
    return {
        "source": "witness" if head else "none",
        "verdict": "witnessed" if head else "unknown",
        "size": head.size if head else None,
        "proven": None,
        "findings": [],
        "head": head,
        "message": message,
    }


MOST_BYTES = 64 << 20
"""A larger trail takes minutes to read; that is for a shell."""

_TYPES: dict[Format, str] = {
    "html": "text/html",
    "md": "text/markdown",
    "json": "application/json",
}
_FORMATS: dict[int | str, dict[str, Any]] = {
    200: {"content": {type: {"schema": {}} for type in _TYPES.values()}}
}


@router.get("/{id}/report", response_class=Response, responses=_FORMATS)
async def get_report(_: Reader, services: Shared, id: Id, format: Format = "html") -> Response:
    """What the session did, for people who were not there: one file, to be saved."""
    entry = await services.store.sessions.get(id)
    folder = find_data_home() / "amplifier" / "audit" / name_log(id)
    async with services.verifying:
        text = await asyncio.to_thread(_make_report, folder, id, entry.name, format)
    name = f"report-{shorten_id(name_log(id))}.{format}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=_TYPES[format], headers=headers)


def _make_report(folder: Path, id: str, name: str, format: Format) -> str:
    if not folder.is_dir():
        raise HTTPException(
            404,
            f"The trail is not on the server's machine; run `amplifier report {id}` where it is.",
        )
    if measure_trail(folder) > MOST_BYTES:
        raise HTTPException(
            413, f"The trail is too large for this; run `amplifier report {id}` on the server."
        )
    made = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        return report_session(folder, format, made=made, owner=name_log(id), name=name)
    except (AuditError, OSError) as error:
        raise HTTPException(404, f"The trail cannot be read: {error}") from error


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
    described = dict(entry)
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
