"""A store on PostgreSQL for those who only look."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.postgres_connection import ReadOnlyPostgres
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import ask


async def test_it_reads_and_the_server_refuses_it_every_change(postgres_url: str) -> None:
    """Also one that ends the transaction first."""
    async with await open_store(postgres_url) as store:
        await ask(store)
    reader = ReadOnlyPostgres(postgres_url)

    def write(transaction: Transaction) -> None:
        transaction.run("ROLLBACK")
        transaction.run("DELETE FROM approvals")

    with pytest.raises(StoreError, match="read-only transaction"):
        await reader.read(write)
    found, _ = await reader.read(lambda one: list_approvals(one, ApprovalFilter())) or ([], "")
    assert [one.status for one in found] == ["pending"]
    await reader.close()


async def test_a_server_that_is_not_there_is_told() -> None:
    """With its address, without its password."""
    reader = ReadOnlyPostgres("postgresql://ann:hunter22@127.0.0.1:9/none")
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9/none does not answer") as told:
        await reader.read(lambda transaction: None)
    assert "hunter22" not in str(told.value)
    await reader.close()
