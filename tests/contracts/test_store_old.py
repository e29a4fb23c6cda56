"""A store that an earlier version has written is read as that version read it.

`old_stores/schema-6.json` has the rows of a store before its values were validated, with texts that
no later request could have, and what that version read of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.models import ApprovalFilter, Choice, Decider
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock

OLD = json.loads((Path(__file__).parent / "old_stores" / "schema-6.json").read_text("utf-8"))


async def restore(store: Store, clock: ManualClock) -> None:
    """Put the old rows in, and let the time be that of the last look at them."""

    def insert(transaction: Transaction) -> None:
        for row in OLD["rows"]:
            transaction.run(row)

    await store.engine.write(insert)
    clock.now = 1_760_000_100.0


def plain(values: Any) -> Any:
    return json.loads(to_json(values))


async def test_everything_in_an_old_store_is_read_as_it_was(
    store: Store, clock: ManualClock
) -> None:
    """Approvals in every state, rules, sessions, records and figures."""
    await restore(store, clock)
    approvals, _ = await store.approvals.list(ApprovalFilter(limit=100))
    assert plain(approvals) == OLD["values"]["approvals"]
    assert plain(await store.rules.list(include_ended=True)) == OLD["values"]["rules"]
    assert plain((await store.sessions.list())[0]) == OLD["values"]["sessions"]
    assert plain(await store.records.read("s0")) == OLD["values"]["records"]
    assert await store.sessions.transcript("s0") == OLD["values"]["transcript"]
    figures = await store.statistics.read(0.0)
    assert [asdict(one) for one in figures] == OLD["values"]["figures"]


async def test_life_goes_on_in_an_old_store(store: Store, clock: ManualClock) -> None:
    """A vote that was given before counts, and a rule can still be used."""
    await restore(store, clock)
    clock.now = 1_760_000_001.0
    approvals, _ = await store.approvals.list(ApprovalFilter(limit=100))
    voted = next(one for one in approvals if one.votes)
    (rule,) = await store.rules.list()
    ruled = next(one for one in approvals if one.rule_id == rule.id)
    found = await store.rules.find_rule(ruled.request)
    assert (found.id, found.uses) == (rule.id, 1)
    await store.engine.write(
        lambda transaction: transaction.run(
            "UPDATE approvals SET status = 'pending' WHERE id = :id", id=voted.id
        )
    )
    choice = Choice(option=0, nonce=voted.nonce, key="6")
    decided = await store.approvals.decide(voted.id, choice, Decider("bob", "cli"))
    assert (decided.status, len(decided.votes)) == ("approved", 2)
