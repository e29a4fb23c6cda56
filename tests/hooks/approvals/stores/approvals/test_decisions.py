"""Decisions: one statement makes the winner."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import Approval, StandingWish
from amplifier_hooks.approvals.stores.decisions import decide, describe_end
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ANN, BOB, DENY, ask, choose, make_request


async def record_statements(store: Store, approval: Approval, choice: Any, by: Any) -> list[str]:
    seen: list[str] = []

    def work(transaction: Any) -> None:
        class Recording:
            def run(self, statement: str, **values: Any) -> Any:
                seen.append(statement.split()[0])
                return transaction.run(statement, **values)

            announce = transaction.announce

        decide(Recording(), approval.id, choice, by)

    await store.engine.write(work)
    return seen


async def test_a_decision_is_one_conditional_statement(store: Store) -> None:
    """One look, one update; who comes later needs the look only."""
    approval = await ask(store)
    assert await record_statements(store, approval, choose(approval), ANN) == ["SELECT", "UPDATE"]
    assert await record_statements(store, approval, choose(approval, DENY), BOB) == ["SELECT"]


async def test_a_rule_is_made_in_the_transaction_that_decides(store: Store) -> None:
    """If that fails, there is no rule."""
    approval = await ask(store)
    wish = choose(approval, standing=StandingWish(scope="exact"))

    def work(transaction: Any) -> None:
        decided = decide(transaction, approval.id, wish, ANN)
        assert isinstance(decided, Approval)
        assert decided.rule_id
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.engine.write(work)
    assert await store.rules.list() == []
    decided = await store.approvals.decide(approval.id, wish, ANN)
    assert [rule.id for rule in await store.rules.list()] == [decided.rule_id]


async def test_the_loser_gets_a_conflict_back_and_not_raised(store: Store) -> None:
    """So that what was written on the way stays."""
    approval = await ask(store)
    await store.approvals.decide(approval.id, choose(approval), ANN)
    lost = await store.engine.write(
        lambda transaction: decide(transaction, approval.id, choose(approval), BOB)
    )
    assert isinstance(lost, Conflict)
    assert lost.approval.decided_by == "ann"


@pytest.mark.parametrize(
    ("status", "by", "sentence"),
    [
        ("expired", "", "Nobody decided in time; it has expired"),
        ("cancelled", "", "The agent has stopped asking"),
        ("cancelled", "ann", "ann has decided already: Deny"),
        ("denied", "ann", "ann has decided already: Deny"),
    ],
)
def test_how_it_ended_is_said_in_a_sentence(status: Any, by: str, sentence: str) -> None:
    """For the person who clicked a moment too late."""
    facts: Any = {"decided_by": by, "option": "Deny"} if by else {}
    ended = Approval(
        id="id",
        nonce="nonce",
        status=status,
        request=make_request(),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=0.0,
        **facts,
    )
    assert describe_end(ended) == sentence
