"""Which approvals wait elsewhere, for modules that tell people about them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from amplifier_hooks.approvals.stores.values.approval import Approval

MOST = 200


class WaitingList:
    """Finds the id of an approval by what a hook asked; offered as `approval.find`."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._news = asyncio.Event()

    def add(self, approval: Approval) -> None:
        """An approval waits now."""
        key = (approval.request.hook, approval.request.prompt)
        self._ids[key] = approval.id
        self._ids.move_to_end(key)
        if len(self._ids) > MOST:
            self._ids.popitem(last=False)
        self._news.set()
        self._news = asyncio.Event()

    async def find(self, hook: str, prompt: str, seconds: float) -> str | None:
        """The id of what this hook asks, once it is known; None if it is not in that time.

        Whoever hears of a question hears of it before it is asked, so the next one is meant.
        """
        before = self._ids.get((hook, prompt))
        try:
            async with asyncio.timeout(seconds):
                while (found := self._ids.get((hook, prompt))) in (None, before):
                    await self._news.wait()
        except TimeoutError:
            return before
        return found
