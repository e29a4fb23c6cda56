"""The approvals of a store: what is decided here reaches who waits here without a query."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.stores import decisions
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import DENY, ManualClock, ask, decide


async def test_a_whole_life(store: Store) -> None:
    """Asked, listed, waited for, decided, and found again."""
    approval = await ask(store)
    assert (await store.approvals.list()) == ([approval], "")
    waiting = asyncio.create_task(store.approvals.wait(approval.id, 600))
    await asyncio.sleep(0)
    decided = await decide(store, approval, DENY)
    assert await waiting == decided == await store.approvals.get(approval.id)


async def test_a_withdrawal_wakes_who_waits(store: Store) -> None:
    """Whoever waited elsewhere learns that somebody answered at the terminal."""
    approval = await ask(store)
    waiting = asyncio.create_task(store.approvals.wait(approval.id, 600))
    await asyncio.sleep(0)
    await store.approvals.withdraw(approval.id, by="ann", option="Allow once")
    assert (await waiting).decided_by == "ann"


async def test_a_conflict_that_time_caused_is_kept(store: Store, clock: ManualClock) -> None:
    """The decision is refused, and that it expired stays written."""
    approval = await ask(store)
    clock.advance(60)
    with pytest.raises(Conflict) as refusal:
        await decide(store, approval)
    assert refusal.value.approval == await store.approvals.get(approval.id)


async def test_more_than_one_portion_is_swept(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is overdue, however much it is."""
    monkeypatch.setattr(decisions, "PORTION", 3)
    asked = {(await ask(store)).id for _ in range(7)}
    clock.advance(60)
    assert {one.id for one in await store.approvals.expire_overdue()} == asked
