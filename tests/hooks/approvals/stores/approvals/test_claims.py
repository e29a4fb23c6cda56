"""Claims: refused with the reason that the agent's record gets."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import BadRequest, Conflict
from amplifier_hooks.approvals.stores.claims import LONGEST_LEASE
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock, approve, ask, read_call


async def test_a_refused_claim_uses_no_fence_and_changes_no_row(store: Store) -> None:
    """All that it did is undone."""
    approval = await approve(store)
    before = await store.approvals.get(approval.id)
    with pytest.raises(Conflict) as refusal:
        await store.claims.claim(**{**read_call(approval), "digest": "x"}, lease=30.0)
    assert refusal.value.approval is not None
    assert await store.approvals.get(approval.id) == before
    held = await store.claims.claim(**read_call(approval), lease=30.0)
    assert held is not None
    assert held.fence == 1


async def test_a_lease_has_a_longest_length(store: Store) -> None:
    """A worker that is still there renews it."""
    approval = await approve(store)
    with pytest.raises(BadRequest, match="lease"):
        await store.claims.claim(**read_call(approval), lease=LONGEST_LEASE + 1)
    held = await store.claims.claim(**read_call(approval), lease=LONGEST_LEASE)
    assert held is not None


async def test_a_worker_that_was_late_but_not_given_up_may_end_its_call(
    store: Store, clock: ManualClock
) -> None:
    """It knows the outcome, and nobody else can have run it."""
    approval = await approve(store)
    held = await store.claims.claim(**read_call(approval), lease=1.0)
    assert held is not None
    clock.advance(5)
    await store.claims.finish(held, "executed")
    assert await store.approvals.mark_lost() == []
    assert (await store.approvals.get(approval.id)).status == "executed"


async def test_an_overdue_question_that_nobody_swept_keeps_the_call_from_running(
    store: Store, clock: ManualClock
) -> None:
    """It counts as not answered."""
    approval = await ask(store)
    clock.advance(61)
    with pytest.raises(Conflict, match="has not been answered"):
        await store.claims.claim(**read_call(approval), lease=30.0)
