"""Those who wait for an end."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import Conflict, StoreUnavailable
from amplifier_hooks.approvals.stores import approvals as kept_approvals
from amplifier_hooks.approvals.stores.approvals import Waiters
from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import ManualClock, ask, decide


class Counting:
    """An engine that counts what it is asked, and may keep news to itself."""

    def __init__(self, engine: Any, tells: bool = True) -> None:
        self._engine = engine
        self.tells = tells
        self.reads = 0
        self.fails = 0

    async def read(self, work: Any, **how: Any) -> Any:
        self.reads += 1
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable("for a moment")
        return await self._engine.read(work, **how)

    async def write(self, work: Any, **how: Any) -> Any:
        return await self._engine.write(work, **how)

    async def check(self) -> None:
        await self._engine.check()

    def listen(self) -> Any:
        return self._engine.listen() if self.tells else Silent()

    async def close(self) -> None:
        await self._engine.close()


class Silent:
    """Changes that never come."""

    async def __aenter__(self) -> Silent:
        return self

    async def __aexit__(self, *raised: object) -> None: ...

    def __aiter__(self) -> Silent:
        return self

    async def __anext__(self) -> Change:
        await asyncio.Event().wait()
        raise StopAsyncIteration


async def test_ten_thousand_cancelled_waiters_leave_nothing(store: Store) -> None:
    """No task, no future, no entry; and the approval can still be decided."""
    approval = await ask(store)
    before = asyncio.all_tasks()
    waiters = Waiters(store.engine)
    waiting = [asyncio.create_task(waiters.wait(approval.id, 600)) for _ in range(10_000)]
    while len(waiters) < 10_000:
        await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in results)
    assert len(waiters) == 0
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    assert (await decide(store, approval)).status == "approved"


async def test_cancelling_before_during_and_after_a_decision_changes_nothing(store: Store) -> None:
    """The row is the truth: who waited for it does not matter."""
    for moment in ("before", "during", "after"):
        approval = await ask(store)
        waiter = asyncio.create_task(store.approvals.wait(approval.id, 600))
        await asyncio.sleep(0.01)
        if moment == "before":
            waiter.cancel()
        deciding = asyncio.create_task(decide(store, approval))
        await asyncio.sleep(0)
        if moment == "during":
            waiter.cancel()
        assert (await deciding).status == "approved"
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        with pytest.raises(Conflict):
            await decide(store, approval)


async def test_a_thousand_waiters_are_woken_by_a_few_queries(tmp_path: Path) -> None:
    """One look for all whose approval changed, not one each."""
    async with await open_store(tmp_path / "s.db", clock=ManualClock()) as store:
        engine = Counting(store.engine)
        waiters = Waiters(engine)
        asked = [await ask(store, session_id="s") for _ in range(20)]
        waiting = [asyncio.create_task(waiters.wait(asked[n % 20].id, 600)) for n in range(1000)]
        while engine.reads < 1000:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        engine.reads = 0
        await asyncio.gather(*(decide(store, one) for one in asked))
        assert {one.status for one in await asyncio.gather(*waiting)} == {"approved"}
        assert engine.reads < 100


async def test_without_news_a_decision_is_found_by_looking_now_and_then(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every row that somebody waits for; a database that fails for a moment does not matter."""
    monkeypatch.setattr(kept_approvals, "POLL", 0.1)
    engine = Counting(store.engine, tells=False)
    waiters = Waiters(engine)
    approval = await ask(store)
    waiting = asyncio.create_task(waiters.wait(approval.id, 600))
    while engine.reads < 1:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    engine.fails = 1
    await decide(store, approval)
    assert (await asyncio.wait_for(waiting, 60)).status == "approved"


async def test_a_waiter_that_is_told_and_cancelled_at_once_complains_of_nothing(
    store: Store,
) -> None:
    """No exception is left that nobody has seen."""
    approval = await ask(store)
    waiters = Waiters(store.engine)
    heard: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: heard.append(context))
    waiting = asyncio.create_task(waiters.wait(approval.id, 600))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await waiters.close()
    await asyncio.gather(waiting, return_exceptions=True)
    del waiting
    gc.collect()
    assert heard == []
