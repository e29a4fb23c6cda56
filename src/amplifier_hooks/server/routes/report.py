"""The report of a session whose trail is on this machine, as a file to keep."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException
from starlette.responses import Response

from amplifier_audit import AuditError
from amplifier_audit.format.log_name import name_log
from amplifier_hooks.insight.reports import Format, report_session
from amplifier_hooks.insight.reports.gathering.reading import measure_trail
from amplifier_hooks.machine.user import find_data_home
from amplifier_hooks.server.services import Reader, Shared
from amplifier_hooks.server.wire.text import Id
from amplifier_hooks.text.short_ids import shorten_id

router = APIRouter(prefix="/sessions", tags=["sessions"])

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
