"""A link to a store that a test can cut, and people who answer there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Decider
from amplifier_hooks.approvals.request import Asker
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import choose
from tests.support.waiting import wait_until

ANN = Decider("ann", "web")


class CutLink:
    """An AgentLink over a store; while `is_cut`, or for the methods in `cut`, nobody answers."""

    def __init__(self, store: Store) -> None:
        self.is_cut = False
        self.cut: set[str] = set()
        self.calls: list[str] = []
        self._link = store.as_link()

    def __getattr__(self, name: str) -> Any:
        act = getattr(self._link, name)

        async def call(*given: Any, **more: Any) -> Any:
            self.calls.append(name)
            if self.is_cut or name in self.cut:
                raise StoreUnavailable("The store at this test does not answer")
            return await act(*given, **more)

        return call


@asynccontextmanager
async def make_store(folder: Path) -> AsyncIterator[Store]:
    """A store in a file of this test."""
    async with await open_store(folder / "store.db") as store:
        yield store


def make_asker(folder: Path, **requirement: Any) -> Asker:
    """An agent of somebody on a machine."""
    return Asker("laptop", "me", folder, **requirement)


async def find_waiting(store: Store) -> Approval:
    """The approval that waits, as soon as one does."""
    found: list[Approval] = []

    async def is_there() -> bool:
        found[:] = (await store.approvals.list(ApprovalFilter(status=("pending",))))[0]
        return bool(found)

    await wait_until(is_there)
    return found[0]


async def answer(store: Store, option: int = 0, by: Decider = ANN, **more: Any) -> Approval:
    """Answer what waits, as soon as something does."""
    waiting = await find_waiting(store)
    return await store.approvals.decide(waiting.id, choose(waiting, option, **more), by)


async def list_states(store: Store) -> list[str]:
    """How all approvals stand, in the order in which they were asked."""
    return [one.status for one in (await store.approvals.list(ApprovalFilter()))[0]]
