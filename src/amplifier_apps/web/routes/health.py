"""Whether the server answers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from amplifier_apps.web.wire.access_answers import Health
from amplifier_apps.web.wire.encoding import answer

router = APIRouter(tags=["health"])


@router.get("/health", responses={200: {"model": Health}})
async def get_health() -> Response:
    """Needs no credential, and says nothing else."""
    return answer({"status": "ok"})
