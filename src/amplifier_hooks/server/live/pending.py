"""All approvals that wait, read at most once a second however many people come."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.server.live.update import Update, make_update

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store

_FRESH_SECONDS = 1.0
_PAGE = 500


class PendingList:
    """The list, encoded; `seconds_left` is never older than a second."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._updates: list[Update] = []
        self._read = float("-inf")

    def forget(self) -> None:
        """Read again next time."""
        self._read = float("-inf")

    async def read(self) -> list[Update]:
        """Every pending approval."""
        async with self._lock:
            if monotonic() - self._read > _FRESH_SECONDS:
                began = monotonic()
                self._read = began
                try:
                    found = await self._list()
                except BaseException:  # the list of before is not what waits now
                    self.forget()
                    raise
                self._updates = [make_update("approval", one) for one in found]
            return self._updates

    async def _list(self) -> list[object]:
        found: list[object] = []
        after = ""
        while True:
            wanted = ApprovalFilter(status=("pending",), limit=_PAGE, after=after)
            page, after = await self._store.approvals.list(wanted)
            found += page
            if not after:
                return found
