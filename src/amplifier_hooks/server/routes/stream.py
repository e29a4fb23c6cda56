"""Approvals as server-sent events, for programs without WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from amplifier_hooks.approvals.errors import TooMany
from amplifier_hooks.server.callers import Caller, identify_again
from amplifier_hooks.server.live.subscriber import Subscriber
from amplifier_hooks.server.services import Reader, Services, Shared

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
