"""Approvals in the person's own store, as an agent puts them there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from amplifier_hooks.approvals.models import Approval, ApprovalFilter
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import make_request

T = TypeVar("T")


def at_store(work: Callable[[Store], Awaitable[T]]) -> T:
    """Do something with the store of this test's home."""

    async def run() -> T:
        async with await open_store() as store:
            return await work(store)

    return asyncio.run(run())


def put(**changes: Any) -> Approval:
    """A question that waits."""
    return at_store(lambda store: store.approvals.request(make_request(**changes)))


def read(approval: Approval) -> Approval:
    """How it stands now."""
    return at_store(lambda store: store.approvals.get(approval.id))


def list_all() -> list[Approval]:
    """Everything that was ever asked."""
    return at_store(lambda store: store.approvals.list(ApprovalFilter()))[0]
