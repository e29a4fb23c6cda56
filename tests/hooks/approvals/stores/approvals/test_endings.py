"""Endings without a decision."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import Approval
from amplifier_hooks.approvals.stores.decisions import allows, expire_one
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock, approve, ask, make_request, read_call


@pytest.mark.parametrize(
    ("label", "allowed"),
    [("Allow once", True), ("Deny", False), ("Yes, go on", True), ("Later", False), ("", False)],
)
def test_an_answer_at_the_terminal_means_what_was_offered(label: str, allowed: bool) -> None:
    """A label that was not offered means what the kernel reads in it: no, unless clearly yes."""
    approval = Approval(
        id="id",
        nonce="n",
        status="pending",
        request=make_request(),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=60.0,
    )
    assert allows(approval, label) is allowed


async def test_one_approval_is_expired_at_its_deadline_and_not_before(
    store: Store, clock: ManualClock
) -> None:
    """And only once."""
    approval = await ask(store)
    for seconds, expired in ((59.999, False), (0.001, True), (1.0, False)):
        clock.advance(seconds)
        done = await store.engine.write(lambda t: expire_one(t, approval.id))
        assert done is expired


async def test_a_name_without_an_answer_is_no_answer(store: Store) -> None:
    """Both are needed to say that somebody decided; an odd name is refused."""
    approval = await ask(store)
    with pytest.raises(BadRequest, match="NUL"):
        await store.approvals.withdraw(approval.id, by="a\0", option="Deny")
    done = await store.approvals.withdraw(approval.id, by="ann", reason="asked elsewhere")
    assert (done.decided_by, done.decided_at, done.comment) == ("", None, "asked elsewhere")


async def test_every_ending_is_told_to_listeners(store: Store, clock: ManualClock) -> None:
    """Swept, given up and withdrawn ones, each by its id; what changed nothing is no news."""
    overdue, withdrawn = await ask(store), await ask(store, timeout=600.0)
    lost = await approve(store, timeout=600.0)
    await store.claims.claim(**read_call(lost), lease=1.0)
    clock.advance(60)
    async with store.listen() as changes:
        await store.approvals.expire_overdue()
        await store.approvals.mark_lost()
        await store.approvals.withdraw(withdrawn.id)
        last = await ask(store)
        await store.approvals.withdraw(withdrawn.id)
        clock.advance(60)
        await store.approvals.withdraw(last.id)
        heard = [(await asyncio.wait_for(anext(changes), 30)).subject for _ in range(5)]
    assert heard == [overdue.id, lost.id, withdrawn.id, last.id, last.id]


async def test_an_answer_at_the_terminal_counts_as_one(store: Store) -> None:
    """Allowed or refused, for the figures about hooks; a withdrawal without one is neither."""
    for option in ("Allow once", "Deny", ""):
        await store.approvals.withdraw((await ask(store)).id, by="ann", option=option)
    (counted,) = await store.statistics.overrulings(0)
    assert (counted.asked, counted.allowed, counted.denied) == (3, 1, 1)
