"""Votes: one for each person, while there is time."""

from __future__ import annotations

from amplifier_foundation.stores.approvals.votes import cast_vote, find_vote
from amplifier_foundation.stores.store import Store
from amplifier_foundation.stores.values.approval import Approval, Choice, Decider
from tests.support.stores import ManualClock, ask, choose, require


async def vote(store: Store, approval: Approval, name: str, choice: Choice | None = None) -> bool:
    return await store.engine.write(
        lambda transaction: cast_vote(
            transaction, approval, choice or choose(approval), Decider(name, "web"), "Allow once"
        )
    )


async def test_a_person_has_one_vote_however_the_name_is_written(store: Store) -> None:
    """The first one counts."""
    approval = await ask(store, requirement=require(persons=3))
    assert await vote(store, approval, "Ann")
    assert not await vote(store, approval, "ANN ")
    assert await vote(store, approval, "bob")
    votes = (await store.approvals.get(approval.id)).votes
    assert [one.by for one in votes] == ["Ann", "bob"]
    kept = await store.engine.read(lambda t: find_vote(t, approval.id, "ann"))
    assert kept is not None
    assert kept["voter"] == "Ann"
    assert await store.engine.read(lambda t: find_vote(t, approval.id, "cho")) is None


async def test_no_vote_counts_after_the_deadline_or_for_another_question(
    store: Store, clock: ManualClock
) -> None:
    """Both are part of the statement."""
    approval = await ask(store, requirement=require(persons=2))
    assert not await vote(store, approval, "ann", Choice(0, "other", "key"))
    clock.advance(60)
    assert not await vote(store, approval, "ann")
    assert (await store.approvals.get(approval.id)).votes == ()
