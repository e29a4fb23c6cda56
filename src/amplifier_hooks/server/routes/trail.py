"""What a session's trail proves: its folder if it is here, else what the witness has seen."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from amplifier_audit import AuditError, Report, verify
from amplifier_audit.format.log_name import name_log
from amplifier_audit.reader.report_text import report_to_dict
from amplifier_hooks.approvals.models import TrailHead
from amplifier_hooks.machine.user import find_data_home
from amplifier_hooks.server.services import Reader, Services, Shared
from amplifier_hooks.server.wire.encoding import answer
from amplifier_hooks.server.wire.session_answers import TrailAnswer
from amplifier_hooks.server.wire.text import Id

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
    message = (
        "The trail is on another machine; its last witnessed checkpoint is shown."
        if head
        else "The trail is on another machine, and no witness has seen it."
    )
    return {
        "source": "witness" if head else "none",
        "verdict": "witnessed" if head else "unknown",
        "size": head.size if head else None,
        "proven": None,
        "findings": [],
        "head": head,
        "message": message,
    }
