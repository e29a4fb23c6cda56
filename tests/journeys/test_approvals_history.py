"""What deciders and claimers saw, at the same time and with broken connections, is one history."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

import psycopg
import pytest

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import Approval, Choice, Decider
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.approval_worker import Life

LEASE = 600.0


@dataclass(frozen=True)
class Event:
    """What somebody did that succeeded, and between which times it took effect."""

    kind: Literal["allow", "deny", "run"]
    key: str
    who: str
    began: float
    ended: float


def find_contradictions(history: list[Event], keys: list[str]) -> list[str]:
    """Approvals with two winners, with none, run without an allow, run twice, or not at all."""
    found: list[str] = []
    for key in keys:
        of_key = [event for event in history if event.key == key]
        decisions = [event for event in of_key if event.kind != "run"]
        runs = [event for event in of_key if event.kind == "run"]
        if len(decisions) != 1:
            found.append(f"{key} was decided by {[event.who for event in decisions]}")
            continue
        allowed = decisions[0].kind == "allow"
        if len(runs) != int(allowed):
            found.append(f"{key}: {decisions[0].kind}, and run by {[event.who for event in runs]}")
        elif runs and runs[0].ended < decisions[0].began:
            found.append(f"{key} was run before it was allowed")
    return found


@pytest.mark.parametrize(
    ("history", "contradictions"),
    [
        ([("allow", "ann", 0, 1), ("run", "w1", 0, 2)], 0),
        ([("deny", "ann", 0, 1)], 0),
        ([], 1),
        ([("allow", "ann", 0, 1), ("deny", "bob", 0, 1)], 1),
        ([("allow", "ann", 0, 1)], 1),
        ([("deny", "ann", 0, 1), ("run", "w1", 2, 3)], 1),
        ([("allow", "ann", 0, 1), ("run", "w1", 2, 3), ("run", "w2", 2, 3)], 1),
        ([("allow", "ann", 5, 6), ("run", "w1", 2, 3)], 1),
    ],
)
def test_the_check_sees_contradictions(history: list[tuple], contradictions: int) -> None:
    """And none where there is none."""
    events = [Event(kind, "k", *rest) for kind, *rest in history]
    assert len(find_contradictions(events, ["k"])) == contradictions


@pytest.fixture
async def stores(postgres_url: str) -> AsyncIterator[list[Store]]:
    """Three processes' worth of stores on one database."""
    opened = [await open_store(postgres_url) for _ in range(3)]
    yield opened
    for store in opened:
        await store.close()


class Scene:
    """Approvals, those who decide them, and those who run what was allowed."""

    def __init__(self, stores: list[Store], asked: list[Approval], seed: int) -> None:
        self._stores = stores
        self._asked = asked
        self._random = random.Random(seed)
        self.history: list[Event] = []

    async def decide_all(self, number: int) -> None:
        """One person, who takes them in an order of their own."""
        store, who = self._stores[number % len(self._stores)], f"person-{number}"
        for approval in self._shuffle():
            kind: Literal["allow", "deny"] = self._random.choice(("allow", "deny"))
            choice = Choice(
                option=int(kind == "deny"), nonce=approval.nonce, key=f"{who}-{approval.id}"
            )
            began = await self._pause()
            try:
                await store.approvals.decide(approval.id, choice, Decider(who, "cli"))
            except Conflict:
                continue
            self.history.append(Event(kind, approval.request.key, who, began, monotonic()))

    async def run_all(self, number: int) -> None:
        """One worker, who claims each as soon as it is decided."""
        store, who = self._stores[number % len(self._stores)], f"worker-{number}"
        for approval in self._shuffle():
            decided = await store.approvals.wait(approval.id, 120.0)
            assert decided.status != "pending"
            began = await self._pause()
            request = approval.request
            try:
                await store.claims.claim(request.session_id, "call-1", request.digest, LEASE)
            except Conflict:
                continue
            self.history.append(Event("run", request.key, who, began, monotonic()))

    def _shuffle(self) -> list[Approval]:
        return self._random.sample(self._asked, len(self._asked))

    async def _pause(self) -> float:
        began = monotonic()
        await asyncio.sleep(self._random.choice((0.0, 0.0, 0.001, 0.005)))
        return began


async def cut_connections(url: str, seconds: float) -> None:
    """End all connections of the stores, again and again."""
    cut = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'amplifier'"
    )
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while True:
            await asyncio.sleep(seconds)
            await connection.execute(cut.encode())


async def check_history(stores: list[Store], url: str, count: int, seed: int) -> None:
    """Let everybody at it, and see whether what they saw can have happened."""
    keys = [f"k{seed}-{number}" for number in range(count)]
    requests = [Life(key, Path("none")).request() for key in keys]
    asked = [await stores[0].approvals.request(request) for request in requests]
    scene = Scene(stores, asked, seed)
    cutting = asyncio.create_task(cut_connections(url, 0.3))
    try:
        await asyncio.gather(
            *(scene.decide_all(number) for number in range(5)),
            *(scene.run_all(number) for number in range(4)),
        )
    finally:
        cutting.cancel()
        await asyncio.gather(cutting, return_exceptions=True)
    assert find_contradictions(scene.history, keys) == []
    for event in scene.history:
        if event.kind != "run":
            kept = await stores[1].approvals.get(asked[keys.index(event.key)].id)
            assert kept.decided_by == event.who


async def test_with_connections_cut_every_approval_has_one_winner_and_one_run_if_allowed(
    stores: list[Store], postgres_url: str
) -> None:
    """Five people decide and four workers claim, each in an order of their own."""
    await check_history(stores, postgres_url, 25, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_many_histories_have_no_contradiction(stores: list[Store], postgres_url: str) -> None:
    """The same with other orders and pauses."""
    for seed in range(10, 30):
        await check_history(stores, postgres_url, 40, seed)
