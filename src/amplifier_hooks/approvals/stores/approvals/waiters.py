"""Waking those who wait for a decision: one listener and one query for all of them.

The row is the truth. News only says when to look at it, and without news everybody's row is looked
at once a second.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TypeVar

from amplifier_hooks.approvals.stores.approvals import endings, rows
from amplifier_hooks.approvals.stores.engine import ANY, Change, Engine, Transaction
from amplifier_hooks.approvals.stores.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores.values.approval import Approval

POLL = 1.0
"""Seconds after which every row is looked at, news or not."""
PATIENCE = 0.02
"""Seconds until something that should be overdue, and is not yet, is looked at again."""

_OVER = (
    "SELECT id, status FROM approvals WHERE id IN ({names}) "
    "AND (status <> 'pending' OR deadline <= unix_now())"
)

T = TypeVar("T")
R = TypeVar("R")
Waiter = asyncio.Future[Approval]


class Waiters:
    """Everybody in this process who waits for an approval. No task runs while nobody does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: dict[str, set[Waiter]] = {}
        self._deadlines: dict[str, float] = {}
        self._woken: set[str] = set()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._add(approval_id, waiter)
        try:
            # Looked at after the waiter is there: a decision in between is news for it.
            approval = await self._look(approval_id)
            if approval.status != "pending" or seconds <= 0:
                return approval
            self._expect(approval)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if seconds == float("inf") else seconds):
                    return await waiter
            return await self._look(approval_id)
        finally:
            self._remove(approval_id, waiter)

    def tell(self, approval: Approval) -> None:
        """Wake those who wait for it, if it is no longer pending: here it has just been read."""
        if approval.status == "pending":
            return
        for waiter in self._waiting.get(approval.id, ()):
            if not waiter.done():
                waiter.set_result(approval)

    async def close(self) -> None:
        """Tell everybody that the store is closed."""
        self._closed = True
        for waiters in list(self._waiting.values()):
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(StoreUnavailable("The store was closed"))
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _add(self, approval_id: str, waiter: Waiter) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed")
        self._waiting.setdefault(approval_id, set()).add(waiter)
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen(), name="store-waiters-listen"),
                asyncio.create_task(self._run(), name="store-waiters"),
            ]

    def _remove(self, approval_id: str, waiter: Waiter) -> None:
        waiters = self._waiting.get(approval_id, set())
        waiters.discard(waiter)
        if waiter.done() and not waiter.cancelled():
            waiter.exception()  # was seen, or nobody is left to see it
        if not waiters:
            self._waiting.pop(approval_id, None)
            self._deadlines.pop(approval_id, None)
        if not self._waiting:
            tasks, self._tasks = self._tasks, []
            for task in tasks:
                task.cancel()

    def _expect(self, approval: Approval) -> None:
        self._deadlines[approval.id] = asyncio.get_running_loop().time() + approval.seconds_left
        if approval.seconds_left < POLL:
            self._wake.set()

    async def _look(self, approval_id: str) -> Approval:
        approval = await self._engine.read(lambda transaction: rows.load(transaction, approval_id))
        if approval.status != "pending" or approval.seconds_left > 0:
            return approval
        return await self._engine.write(lambda transaction: _expire(transaction, approval_id))

    async def _listen(self) -> None:
        """Gather which of the approvals may have changed."""
        while True:
            with contextlib.suppress(StoreError):
                async with self._engine.listen() as changes:
                    # What changed before the listener was there was nobody's news.
                    self._notice(Change(ANY, ANY))
                    async for change in changes:
                        self._notice(change)
            if self._closed:
                return
            await asyncio.sleep(POLL)

    def _notice(self, change: Change) -> None:
        if change.topic == ANY:
            self._woken.update(self._waiting)
        elif change.topic == "approval" and change.subject in self._waiting:
            self._woken.add(change.subject)
        if self._woken:
            self._wake.set()

    async def _run(self) -> None:
        """Look at what may have changed or is due, as one query, again and again."""
        loop = asyncio.get_running_loop()
        poll = loop.time() + POLL
        while True:
            nearest = min(self._deadlines.values(), default=poll)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(poll, nearest)):
                    await self._wake.wait()
            self._wake.clear()
            ids = self._take_due(loop.time()) | self._woken
            self._woken = set()
            if loop.time() >= poll:
                ids, poll = set(self._waiting), loop.time() + POLL
            if ids:
                with contextlib.suppress(StoreError):
                    await self._tell(ids & self._waiting.keys())

    def _take_due(self, now: float) -> set[str]:
        """Those whose time is over by this process's clock; the store's may be a little behind."""
        due = {id for id, deadline in self._deadlines.items() if deadline <= now}
        self._deadlines.update(dict.fromkeys(due, now + PATIENCE))
        return due

    async def _tell(self, ids: Collection[str]) -> None:
        ended = await self._read(ids, _find_over)
        overdue = [id for id, status in ended.items() if status == "pending"]
        for chunk in rows.split(overdue):
            await self._engine.write(partial(_expire_all, ids=chunk))
        for chunk in rows.split(list(ended)):
            for approval in await self._read(chunk, rows.load_many):
                self.tell(approval)
                if approval.status == "pending" and approval.id in self._waiting:
                    self._expect(approval)

    async def _read(self, ids: T, work: Callable[[Transaction, T], R]) -> R:
        return await self._engine.read(lambda transaction: work(transaction, ids))


def _find_over(transaction: Transaction, ids: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for chunk in rows.split(list(ids)):
        names, values = rows.name_values(chunk)
        for row in transaction.run(_OVER.format(names=names), **values):
            found[row["id"]] = row["status"]
    return found


def _expire(transaction: Transaction, approval_id: str) -> Approval:
    endings.expire_one(transaction, approval_id)
    return rows.load(transaction, approval_id)


def _expire_all(transaction: Transaction, ids: Iterable[str]) -> None:
    for approval_id in ids:
        endings.expire_one(transaction, approval_id)
