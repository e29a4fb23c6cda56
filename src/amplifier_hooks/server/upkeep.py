"""Work that must go on for as long as the server runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NoReturn

logger = logging.getLogger(__name__)

_PAUSE = 1.0


async def keep_running(work: Callable[[], Awaitable[None]], pause: float = _PAUSE) -> NoReturn:
    """Run something until cancelled; after a failure, which is logged, again."""
    while True:
        try:
            await work()
        except Exception:  # a server that no longer tells anybody anything would look healthy
            logger.exception("work beside the requests failed; it is started again")
        await asyncio.sleep(pause)
