"""Waiting for news on behalf of a client, for as long as it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request


async def wait_unless_gone(request: Request, news: Coroutine[Any, Any, None]) -> None:
    """Wait until there is news, or until nobody is there to be told."""
    waiting = asyncio.ensure_future(news)
    leaving = asyncio.ensure_future(_wait_until_gone(request))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in (waiting, leaving):
            one.cancel()
        await asyncio.gather(waiting, leaving, return_exceptions=True)


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
