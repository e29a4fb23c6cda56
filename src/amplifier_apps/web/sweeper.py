"""What time does to approvals, claims and sessions, seen to by every server."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from amplifier_foundation.stores.errors import StoreError

if TYPE_CHECKING:
    from amplifier_foundation.stores.store import Store

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
    while True:
        try:
            await sweep(store)
        except StoreError as error:
            logger.warning("sweeping failed: %s", error)
        await asyncio.sleep(seconds)


async def retain_forever(store: Store, days: int, seconds: float = RETAIN_SECONDS) -> None:
    """Remove what ended longer ago than that, every hour."""
    while True:
        try:
            sessions = await store.sessions.remove_older(days * 86_400.0)
            approvals = await store.approvals.remove_older(days * 86_400.0)
            if sessions or approvals:
                logger.info("removed %d sessions and %d approvals", sessions, approvals)
        except StoreError as error:
            logger.warning("what is old could not be removed: %s", error)
        await asyncio.sleep(seconds)
