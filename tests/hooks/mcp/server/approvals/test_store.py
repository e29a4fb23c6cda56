"""The store of approvals, opened so that nothing can be written through it."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.mcp.server.approvals.store import ApprovalStore, Reader
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.policy.bundle import CurrentBundle
from tests.hooks.mcp.server.world import World
from tests.support.stores import ask


def count(transaction: Transaction) -> int:
    return len(list_approvals(transaction, ApprovalFilter())[0])


async def test_a_store_that_was_named_comes_before_the_bundles_and_that_before_ones_own(
    world: World,
) -> None:
    """The bundle's only as long as a person trusts it: it could name any database."""
    for name, questions in (("named.db", 3), ("of-bundle.db", 2)):
        async with await open_store(world.home / name) as store:
            for _ in range(questions):
                await ask(store)
    await world.ask()
    section = {"via": "store", "store": str(world.home / "of-bundle.db")}
    world.save_bundle(approval=section)
    bundle = CurrentBundle(world.project)
    assert await ApprovalStore(bundle, str(world.home / "named.db")).read(count) == 3
    assert await ApprovalStore(bundle).read(count) == 2
    world.save_bundle(trusted=False, approval=section, description="changed")
    assert await ApprovalStore(CurrentBundle(world.project)).read(count) == 1


async def test_what_is_wrong_with_a_store_is_said(world: World) -> None:
    """With its address."""
    (world.home / "notes.db").write_text("milk, eggs and so on, which is no database of anybody")
    bundle = CurrentBundle(world.project)
    with pytest.raises(Refused, match=r"notes\.db does not work"):
        await ApprovalStore(bundle, str(world.home / "notes.db")).read(count)
    with pytest.raises(Refused, match="use a path"):
        await ApprovalStore(bundle, "mysql://host/base").read(count)


async def test_a_store_that_is_not_there_is_not_made(world: World) -> None:
    """Nobody has asked anything yet."""
    store = ApprovalStore(CurrentBundle(world.project))
    assert await store.read(count) is None
    await store.close()
    assert not world.store.exists()


def test_what_opens_a_store_here_has_no_method_that_writes() -> None:
    """Reading and closing is all."""
    assert {name for name in vars(Reader) if not name.startswith("_")} == {"read", "close"}
