"""What every database promises of claims: an approved call runs once, as it was shown."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest, Conflict
from amplifier_hooks.approvals.models import Approval, Claim
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import DENY, ManualClock, approve, ask, decide, read_call


async def claim(store: Store, approval: Approval, lease: float = 30.0, **change: str) -> Any:
    return await store.claims.claim(**{**read_call(approval), **change}, lease=lease)


async def test_of_many_workers_one_may_run_a_call(store: Store) -> None:
    """Twenty claim at once, one gets it, and all others are told."""
    approval = await approve(store)
    results = await asyncio.gather(
        *(claim(store, approval) for _ in range(20)), return_exceptions=True
    )
    won = [one for one in results if isinstance(one, Claim)]
    assert len(won) == 1
    assert sum(isinstance(one, Conflict) for one in results) == 19
    stored = await store.approvals.get(approval.id)
    assert (stored.status, stored.fence) == ("executing", won[0].fence)
    assert won[0].approvals == (approval.id,)


async def test_a_call_that_nobody_was_asked_about_needs_no_claim(store: Store) -> None:
    """None says that there is nothing here to claim."""
    assert await store.claims.claim("session", "call", "digest", 30.0) is None


async def test_all_gates_of_a_call_are_claimed_together_or_not_at_all(store: Store) -> None:
    """One that is pending or refused keeps the call from running, and nothing is claimed."""
    call = {"session_id": "s", "tool_call_id": "c"}
    first = await approve(store, **call, hook="first")
    second = await ask(store, **call, hook="second")
    with pytest.raises(Conflict, match="'second' asked has not been answered"):
        await claim(store, first)
    assert (await store.approvals.get(first.id)).status == "approved"
    await decide(store, second)
    held = await claim(store, first)
    assert set(held.approvals) == {first.id, second.id}

    other = await approve(store, session_id="s", tool_call_id="d", hook="first")
    await decide(store, await ask(store, session_id="s", tool_call_id="d", hook="third"), DENY)
    with pytest.raises(Conflict, match="refused by ann"):
        await claim(store, other)


async def test_only_what_was_shown_may_run(store: Store) -> None:
    """Another digest is refused, unless a person edited the input themselves."""
    plain = await approve(store)
    with pytest.raises(Conflict, match="not what ann allowed"):
        await claim(store, plain, digest="other")
    assert (await store.approvals.get(plain.id)).status == "approved"
    call = {"session_id": "s", "tool_call_id": "c"}
    before = await approve(store, **call, hook="first")
    asked = await ask(store, **call, hook="second", editable=True)
    await decide(store, asked, edited_input={"file_path": "elsewhere"})
    assert len((await claim(store, before, digest="of the edited input")).approvals) == 2


async def test_an_answer_at_the_terminal_or_a_default_needs_no_claim(
    store: Store, clock: ManualClock
) -> None:
    """Allowed elsewhere, or by the gate's own default; what was refused elsewhere stays refused."""
    allowed, refused, silent = [await ask(store) for _ in range(3)]
    await store.approvals.withdraw(allowed.id, by="ann", option="Allow once")
    await store.approvals.withdraw(refused.id, by="ann", option="Deny")
    await store.approvals.withdraw(silent.id)
    lenient, strict = await ask(store, default="allow"), await ask(store)
    clock.advance(60)
    await store.approvals.expire_overdue()
    assert await claim(store, allowed) is None
    assert await claim(store, lenient) is None
    for approval, why in ((refused, "refused by ann"), (silent, "withdrawn"), (strict, "in time")):
        with pytest.raises(Conflict, match=why):
            await claim(store, approval)


async def test_a_finished_call_stays_as_it_ended(store: Store) -> None:
    """The same result again is heard; another one, or a claim anew, is refused."""
    approval = await approve(store)
    held = await claim(store, approval)
    await store.claims.finish(held, "failed")
    await store.claims.finish(held, "failed")
    with pytest.raises(Conflict, match="'failed'"):
        await store.claims.finish(held, "executed")
    with pytest.raises(Conflict, match="claimed before"):
        await claim(store, approval)
    with pytest.raises(Conflict):
        await store.claims.renew(held, 30)
    stored = await store.approvals.get(approval.id)
    assert (stored.status, stored.outcome) == ("failed", "failed")


async def test_a_lapsed_lease_leaves_the_outcome_unknown(store: Store, clock: ManualClock) -> None:
    """Renewed in time it is kept; afterwards the worker that wakes up is told and ends nothing."""
    approval = await approve(store)
    held = await claim(store, approval, lease=10)
    clock.advance(9)
    held = await store.claims.renew(held, 10)
    clock.advance(9.999)
    assert await store.approvals.mark_lost() == []
    clock.advance(0.001)
    assert [one.id for one in await store.approvals.mark_lost()] == [approval.id]
    for work in (store.claims.finish(held, "executed"), store.claims.renew(held, 10)):
        with pytest.raises(Conflict, match="'unknown'"):
            await work
    assert (await store.approvals.get(approval.id)).status == "unknown"
    with pytest.raises(Conflict):
        await claim(store, approval)


async def test_a_call_whose_outcome_is_unknown_runs_again_only_if_a_person_says_so(
    store: Store, clock: ManualClock
) -> None:
    """The question is put anew, and that answer counts for one more run."""
    call = {"session_id": "s", "tool_call_id": "c"}
    lost = await approve(store, **call)
    await claim(store, lost, lease=1)
    clock.advance(1)
    await store.approvals.mark_lost()
    again = await ask(store, **call)
    with pytest.raises(Conflict, match="not been answered"):
        await claim(store, lost)
    await decide(store, again)
    assert (await claim(store, lost)).approvals == (again.id,)
    with pytest.raises(Conflict):
        await claim(store, lost)


async def test_a_refusal_is_not_undone_by_asking_again(store: Store) -> None:
    """Whoever said no has said it for this call."""
    call = {"session_id": "s", "tool_call_id": "c"}
    await decide(store, await ask(store, **call), DENY)
    second = await approve(store, **call)
    with pytest.raises(Conflict, match="refused"):
        await claim(store, second)


async def test_fences_only_grow_also_over_a_restart(store_url: str, clock: ManualClock) -> None:
    """A later claim has a larger number, whoever asks."""
    fences = []
    for _ in range(3):
        async with await open_store(store_url, clock=clock) as store:
            fences.append((await claim(store, await approve(store))).fence)
    assert fences == sorted(set(fences))


async def test_a_made_up_claim_is_refused(store: Store) -> None:
    """A fence with other approvals, or approvals with another fence, hold nothing."""
    one, two = await approve(store), await approve(store)
    held = await claim(store, one)
    for made_up in (
        Claim(fence=held.fence + 1, approvals=held.approvals, lease_until=0.0),
        Claim(fence=held.fence, approvals=(two.id,), lease_until=0.0),
        Claim(fence=held.fence, approvals=(one.id, two.id), lease_until=0.0),
        Claim(fence=0, approvals=(two.id,), lease_until=0.0),
    ):
        with pytest.raises(Conflict):
            await store.claims.finish(made_up, "executed")
        with pytest.raises(Conflict):
            await store.claims.renew(made_up, 30)
    assert (await store.approvals.get(one.id)).status == "executing"
    assert (await store.approvals.get(two.id)).status == "approved"


async def test_a_lease_or_an_end_that_makes_no_sense_is_refused(store: Store) -> None:
    """And so is a call without a name."""
    approval = await approve(store)
    lease: Any
    for lease in (0, -1, math.nan, math.inf, 1e12, True, None):
        with pytest.raises(BadRequest, match="lease"):
            await claim(store, approval, lease=lease)
    with pytest.raises(BadRequest, match="tool_call_id"):
        await claim(store, approval, tool_call_id="")
    held = await claim(store, approval)
    outcome: Any
    for outcome in ("unknown", "", None, "EXECUTED"):
        with pytest.raises(BadRequest):
            await store.claims.finish(held, outcome)
