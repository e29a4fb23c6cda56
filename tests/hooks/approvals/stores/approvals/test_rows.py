"""Rows: many at once, in portions that a statement can name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.stores.approval_rows import (
    CHUNK,
    load_approvals,
    name_values,
    split_ids,
)
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ask, decide, require


@given(st.lists(st.text(), max_size=1200))
def test_portions_hold_every_id_once(ids: list[str]) -> None:
    """None is larger than one statement takes."""
    portions = split_ids(ids)
    assert [one for portion in portions for one in portion] == ids
    assert all(1 <= len(portion) <= CHUNK for portion in portions)


def test_values_are_named_and_kept_apart_from_the_text() -> None:
    """The text holds names only."""
    assert name_values(["a'b", "c"]) == (":v0, :v1", {"v0": "a'b", "v1": "c"})


async def test_many_are_loaded_with_their_votes_and_missing_ones_left_out(store: Store) -> None:
    """As each would be by itself."""
    alone, shared = await ask(store), await ask(store, requirement=require(persons=2))
    await decide(store, shared)
    wanted = [shared.id, "missing", alone.id]
    found = await store.engine.read(lambda transaction: load_approvals(transaction, wanted))
    assert {one.id: len(one.votes) for one in found} == {shared.id: 1, alone.id: 0}
    for one in found:
        assert one == await store.approvals.get(one.id)
