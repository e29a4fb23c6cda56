"""The errors of a store."""

from __future__ import annotations

import pytest

from amplifier_core.errors import AmplifierError
from amplifier_hooks.approvals.errors import Conflict, StoreError
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import BOB, approve, decide


async def test_a_conflict_carries_how_it_stands(store: Store) -> None:
    """So that the loser can be shown who was first."""
    approval = await approve(store)
    with pytest.raises(Conflict) as refusal:
        await decide(store, approval, by=BOB)
    assert refusal.value.approval == approval
    assert str(refusal.value) == "ann has decided already: Allow once"


def test_errors_of_a_store_are_the_kernel_s() -> None:
    """Whoever catches those of the kernel catches these."""
    assert issubclass(StoreError, AmplifierError)
    assert Conflict("first").approval is None
