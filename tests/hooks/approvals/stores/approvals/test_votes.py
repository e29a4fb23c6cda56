"""Votes: one for each person, while there is time."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import Approval, Choice, Decider, Option
from amplifier_hooks.approvals.stores.decisions import cast_vote, find_vote
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ALLOW, ALWAYS, ANN, BOB, ManualClock, ask, choose, require


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
    assert not await vote(store, approval, "ann", Choice(option=0, nonce="other", key="key"))
    clock.advance(60)
    assert not await vote(store, approval, "ann")
    assert (await store.approvals.get(approval.id)).votes == ()


@pytest.mark.parametrize(
    ("first", "second"), [(ALLOW, ALWAYS), (ALWAYS, ALLOW), (ALLOW, ALLOW), (ALWAYS, ALWAYS)]
)
async def test_what_is_allowed_is_what_all_have_allowed(
    store: Store, first: int, second: int
) -> None:
    """Who allowed it once did not allow it for always."""
    approval = await ask(store, requirement=require(persons=2))
    await store.approvals.decide(approval.id, choose(approval, first), ANN)
    decided = await store.approvals.decide(approval.id, choose(approval, second), BOB)
    wanted = "Allow always" if (first, second) == (ALWAYS, ALWAYS) else "Allow once"
    assert (decided.status, decided.option) == ("approved", wanted)


async def test_votes_for_different_things_are_not_added_up(store: Store) -> None:
    """Nobody allowed both, so the second may choose the same as the first, or refuse."""
    options = (
        Option(id=0, label="Allow on staging", allows=True),
        Option(id=1, label="Allow everywhere", allows=True),
    )
    approval = await ask(store, options=options, requirement=require(persons=2))
    await store.approvals.decide(approval.id, choose(approval, 0), ANN)
    with pytest.raises(Conflict, match="'Allow on staging' and 'Allow everywhere'"):
        await store.approvals.decide(approval.id, choose(approval, 1), BOB)
    waiting = await store.approvals.get(approval.id)
    assert (waiting.status, [vote.by for vote in waiting.votes]) == ("pending", ["ann"])
    assert (await store.approvals.decide(approval.id, choose(approval, 0), BOB)).votes[
        1
    ].by == "bob"
