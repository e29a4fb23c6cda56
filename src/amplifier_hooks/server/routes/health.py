"""Whether the server runs, and whether it can do its work."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from amplifier_hooks.server.answers import ErrorAnswer, Health
from amplifier_hooks.server.encoding import answer
from amplifier_hooks.server.guard import NO_STORE, RETRY_SECONDS
from amplifier_hooks.server.logs import make_error
from amplifier_hooks.server.services import Shared

alive = APIRouter(tags=["health"])
router = APIRouter(tags=["health"])


@alive.get("/health", responses={200: {"model": Health}})
async def get_health() -> Response:
    """That the process answers; a restart would not help one that does. Needs no credential."""
    return answer({"status": "ok"})


@router.get("/ready", responses={200: {"model": Health}, 503: {"model": ErrorAnswer}})
async def get_readiness(services: Shared) -> Response:
    """Whether the store answers now, within seconds. Needs no credential; the log says more."""
    if not await services.watch.check():
        return answer({"status": "ready"})
    refused = answer({"error": make_error("unavailable", NO_STORE)}, 503)
    refused.headers["retry-after"] = str(RETRY_SECONDS)
    return refused
