"""Work that goes on beside the requests: sweeping, removing what is old, and starting again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

from amplifier_hooks.approvals.errors import StoreError

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store


logger = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
RETAIN_SECONDS = 3600.0
SESSION_SECONDS = 90.0
"""After how long a session that reports nothing is taken for lost."""


async def sweep(store: Store) -> None:
    """Expire what is overdue, and mark what was lost; several servers may do so at once."""
    await store.approvals.expire_overdue()
    await store.approvals.mark_lost()
    await store.sessions.mark_lost(SESSION_SECONDS)


async def sweep_forever(store: Store, seconds: float = SWEEP_SECONDS) -> None:
    """Sweep every second; a store that does not answer is tried again."""
    failing = False
    while True:
        try:
            await sweep(store)
            if failing:
                logger.warning("sweeping succeeds again")
            failing = False
        except StoreError as error:
            if not failing:
                logger.warning("sweeping failed, and is tried again and again: %s", error)
            failing = True
        await asyncio.sleep(seconds)


async def retain_forever(store: Store, days: int, seconds: float = RETAIN_SECONDS) -> None:
    """Remove what ended longer ago than that, every hour."""
    while True:
        try:
            sessions = await store.sessions.remove_older(days * 86_400.0)
            approvals = await store.approvals.remove_older(days * 86_400.0)
            figures = await store.statistics.remove_older(days * 86_400.0)
            if sessions or approvals or figures:
                logger.info(
                    "removed %d sessions, %d approvals and %d figures of hours",
                    *(sessions, approvals, figures),
                )
        except StoreError as error:
            logger.warning("what is old could not be removed: %s", error)
        await asyncio.sleep(seconds)


_PAUSE = 1.0


async def keep_running(work: Callable[[], Awaitable[None]], pause: float = _PAUSE) -> NoReturn:
    """Run something until cancelled; after a failure, which is logged, again."""
    while True:
        try:
            await work()
        except Exception:  # a server that no longer tells anybody anything would look healthy
            logger.exception("work beside the requests failed; it is started again")
        await asyncio.sleep(pause)
