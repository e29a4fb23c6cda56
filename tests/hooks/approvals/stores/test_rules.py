"""Standing rules: kept with their author and their words."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import Decider, StandingWish
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock, ask, decide, make_request, require


async def grant(store: Store, by: Decider, **facts: object) -> str:
    approval = await ask(store, **facts)
    return (
        await decide(
            store, approval, by=by, standing=StandingWish(scope="exact", seconds=60.0, uses=5)
        )
    ).rule_id


async def test_a_rule_that_met_a_requirement_meets_the_same_one_again(store: Store) -> None:
    """It was granted by who has the scope, and serves requests that ask for it or for less."""
    manager = Decider("cho", "web", frozenset({"decide", "release"}))
    await grant(store, manager, requirement=require(scope="release"))
    assert await store.rules.find_rule(make_request(requirement=require(scope="release")))
    assert await store.rules.find_rule(make_request())
    assert await store.rules.find_rule(make_request(requirement=require(scope="legal"))) is None


async def test_the_oldest_rule_that_holds_is_used(store: Store, clock: ManualClock) -> None:
    """And the next one when that is used up."""
    first = await grant(store, Decider("ann", "web"))
    clock.advance(1)
    second = await grant(store, Decider("bob", "web"))
    used = [await store.rules.find_rule(make_request()) for _ in range(11)]
    assert [rule and rule.id for rule in used] == [first] * 5 + [second] * 5 + [None]


async def test_rules_are_listed_newest_first_with_what_they_allow(
    store: Store, clock: ManualClock
) -> None:
    """As the person who granted them read it."""
    for name in ("ann", "bob"):
        clock.advance(1)
        await grant(store, Decider(name, "web"))
    listed = await store.rules.list()
    assert [rule.author for rule in listed] == ["bob", "ann"]
    assert all("exactly this input" in rule.description for rule in listed)
    assert [rule.uses_left for rule in listed] == [5, 5]


async def test_listeners_hear_of_rules_that_are_made_used_and_revoked(store: Store) -> None:
    """The page shows them as they are."""
    async with store.listen() as changes:
        rule_id = await grant(store, Decider("ann", "web"))
        await store.rules.find_rule(make_request())
        await store.rules.revoke(rule_id, "bob")
        heard: list[str] = []
        while heard.count("rule") < 3:
            heard.append((await asyncio.wait_for(anext(changes), 30)).topic)
    assert set(heard) == {"approval", "rule"}


async def test_a_request_or_a_name_that_makes_no_sense_is_refused(store: Store) -> None:
    """A rule is found for what could be asked, and revoked by somebody."""
    rule_id = await grant(store, Decider("ann", "web"))
    with pytest.raises(BadRequest, match="timeout"):
        await store.rules.find_rule(make_request(timeout=0))
    for name in ("", "a\0"):
        with pytest.raises(BadRequest, match="who revokes"):
            await store.rules.revoke(rule_id, name)
