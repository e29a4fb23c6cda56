"""The database is restarted under people who decide and agents who wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from amplifier_hooks.approvals.client import PeopleClient
from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    Choice,
    Decider,
)
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.approval_worker import (
    Life,
    Processes,
    run_on_server,
    run_server,
    wait_for_end,
)
from tests.support.postgres_server import PostgresServer
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of its own, because it is stopped."""
    with TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        made = PostgresServer(Path(folder))
        made.create()
        made.start()
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture
def url(server: PostgresServer) -> str:
    return server.create_database()


@pytest.fixture
async def stores(url: str) -> AsyncIterator[list[Store]]:
    """Two processes' worth of stores on one database."""
    opened = [await open_store(url) for _ in range(2)]
    yield opened
    for store in opened:
        await store.close()


async def decide(store: Store, approval: Approval, person: str, option: int) -> Approval | None:
    """The approval as this person has decided it; None if somebody else was first."""
    choice = Choice(option=option, nonce=approval.nonce, key=f"{person}-{approval.id}")
    try:
        return await store.approvals.decide(approval.id, choice, Decider(person, "cli"))
    except Conflict:
        return None


async def race(stores: list[Store], approval: Approval) -> list[Approval]:
    """Two people decide differently at the same moment; who won."""
    answers = await asyncio.gather(
        *(decide(store, approval, f"p{number}", number) for number, store in enumerate(stores))
    )
    return [answer for answer in answers if answer is not None]


async def check_restarts(stores: list[Store], server: PostgresServer, count: int) -> None:
    """Race over many approvals while the database goes and comes back."""
    asked = [
        await stores[0].approvals.request(Life(f"k{number}", Path("none")).request())
        for number in range(count)
    ]
    waits = [asyncio.create_task(stores[1].approvals.wait(one.id, 120.0)) for one in asked]

    async def decide_all() -> list[list[Approval]]:
        return [await race(stores, one) for one in asked]

    deciding = asyncio.create_task(decide_all())
    turn = 0
    while not deciding.done():
        await asyncio.to_thread(server.crash if turn % 2 else server.stop)
        await asyncio.to_thread(server.start)
        await asyncio.wait([deciding], timeout=0.3)
        turn += 1
    winners = await deciding
    assert turn >= 1
    assert [len(won) for won in winners] == [1] * count
    heard = await asyncio.gather(*waits)
    kept = {one.id: one for one in await list_all(stores[0])}
    for (won,), one in zip(winners, heard, strict=True):
        assert won.decided_by == one.decided_by == kept[won.id].decided_by
        assert won.status == one.status == kept[won.id].status


async def list_all(store: Store) -> list[Approval]:
    found: list[Approval] = []
    after = ""
    while True:
        page, after = await store.approvals.list(ApprovalFilter(after=after))
        found += page
        if not after:
            return found


async def test_no_decision_is_lost_or_doubled_when_the_database_is_restarted_under_load(
    stores: list[Store], server: PostgresServer
) -> None:
    """Each decision has one winner, who is told so; each waiter hears what the row says."""
    await check_restarts(stores, server, 60)


async def test_a_server_and_its_agents_outlive_a_restart_of_the_database(
    stores: list[Store], url: str, server: PostgresServer, tmp_path: Path
) -> None:
    """The agent waits at the server, the server for the database; then the answer arrives."""
    agent_token, _ = await stores[0].access.add_token("ci", ["agent"])
    person_token, _ = await stores[0].access.add_token("ann", ["read", "decide"])
    address, effect = tmp_path / "address", tmp_path / "effect"
    with Processes("amplifier_hooks.server.server") as processes:
        serving = processes.start(run_server, url, 0, address)
        await wait_until(lambda: address.exists() or not serving.is_alive())
        reached = address.read_text()
        agent = processes.start(run_on_server, reached, agent_token, Life("k", effect))
        person = PeopleClient(reached, person_token)
        asked = await anext(aiter(person.watch()))
        await asyncio.to_thread(server.crash)
        await asyncio.to_thread(server.start)
        decided = await person.decide(asked.id, Choice(option=0, nonce=asked.nonce, key="click"))
        await person.close()
        assert decided.status == "approved"
        assert await wait_for_end(agent) == 0
    assert effect.read_text().split() == ["begun", "done"]
    assert (await stores[0].approvals.get(asked.id)).status == "executed"


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_database_that_keeps_crashing_loses_nothing(
    stores: list[Store], server: PostgresServer
) -> None:
    """The same, with many more."""
    await check_restarts(stores, server, 900)
