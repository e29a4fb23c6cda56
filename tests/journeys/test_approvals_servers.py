"""Three agents and two servers on one PostgreSQL: whichever of them is killed, nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess as Process
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from amplifier_hooks.approvals.client import PeopleClient
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Choice
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.approval_worker import (
    Life,
    Processes,
    run_on_server,
    run_server,
    wait_for_end,
)
from tests.support.waiting import wait_until

ONCE = ["begun", "done"]


@dataclass
class Machine:
    """A server: its process, and where it is reached."""

    process: Process
    url: str


class Team:
    """Two servers, whoever asks them, and a person with a token."""

    def __init__(self, store: Store, store_url: str, processes: Processes, folder: Path) -> None:
        self.store = store
        self._store_url = store_url
        self._processes = processes
        self._folder = folder
        self.servers: list[Machine] = []
        self._agents: dict[str, Process] = {}
        self._agent_token = self._person_token = ""

    async def start(self) -> None:
        self._agent_token, _ = await self.store.access.add_token("ci", ["agent"])
        self._person_token, _ = await self.store.access.add_token("ann", ["read", "decide"])
        self.servers = list(await asyncio.gather(self.start_server(0), self.start_server(1)))

    async def start_server(self, number: int, port: int = 0) -> Machine:
        address = self._folder / f"server-{number}-{port}"
        process = self._processes.start(run_server, self._store_url, port, address)
        await wait_until(lambda: address.exists() or not process.is_alive())
        return Machine(process, address.read_text())

    async def kill_server(self, number: int) -> None:
        self.servers[number].process.kill()
        await wait_for_end(self.servers[number].process)

    async def restart_server(self, number: int) -> None:
        port = urlsplit(self.servers[number].url).port
        assert port is not None
        self.servers[number] = await self.start_server(number, port)

    def start_agent(self, name: str, server: int) -> None:
        life = Life(name, self._folder / f"effect-{name}")
        url = self.servers[server].url
        self._agents[name] = self._processes.start(run_on_server, url, self._agent_token, life)

    async def kill_agent(self, name: str) -> None:
        self._agents[name].kill()
        await wait_for_end(self._agents[name])

    async def find(self, name: str) -> Approval:
        found: list[Approval] = []

        async def is_asked() -> bool:
            wanted = ApprovalFilter(session_id=f"session-{name}")
            found[:] = (await self.store.approvals.list(wanted))[0]
            return bool(found)

        await wait_until(is_asked)
        assert len(found) == 1
        return found[0]

    async def allow(self, name: str, server: int) -> None:
        """As a person at one of the servers."""
        approval = await self.find(name)
        client = PeopleClient(self.servers[server].url, self._person_token)
        try:
            decided = await client.decide(
                approval.id, Choice(option=0, nonce=approval.nonce, key=f"click-{name}")
            )
        finally:
            await client.close()
        assert decided.decided_by == "ann"

    async def finish(self, name: str) -> None:
        """Wait for an agent's end: it has run its call, once."""
        assert await wait_for_end(self._agents[name]) == 0
        assert (await self.find(name)).status == "executed"
        assert (self._folder / f"effect-{name}").read_text().split() == ONCE


@pytest.fixture
async def team(postgres_url: str, tmp_path: Path) -> AsyncIterator[Team]:
    with Processes("amplifier_hooks.server.server", "amplifier_hooks.approvals.client") as running:
        async with await open_store(postgres_url) as store:
            made = Team(store, postgres_url, running, tmp_path)
            await made.start()
            yield made


async def test_approvals_are_answered_at_either_server_and_outlive_whichever_is_killed(
    team: Team,
) -> None:
    """An agent or a server that dies costs time, and neither a question nor an answer."""
    for name, server in (("a", 0), ("b", 1), ("c", 0)):
        team.start_agent(name, server)
    for name in "abc":
        await team.find(name)

    await team.allow("a", server=1)
    await team.finish("a")

    await team.kill_server(0)
    await team.allow("c", server=1)
    await team.restart_server(0)
    await team.finish("c")

    await team.kill_agent("b")
    await team.kill_server(1)
    await team.allow("b", server=0)
    team.start_agent("b", 0)
    await team.finish("b")


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_servers_that_die_again_and_again_lose_nothing(team: Team) -> None:
    """In every round one of the two is killed while agents wait at both."""
    for turn in range(10):
        dead, alive = turn % 2, (turn + 1) % 2
        names = [f"{turn}-{number}" for number in range(3)]
        for number, name in enumerate(names):
            team.start_agent(name, number % 2)
        for name in names:
            await team.find(name)
        await team.kill_server(dead)
        await asyncio.gather(*(team.allow(name, alive) for name in names))
        await team.restart_server(dead)
        await asyncio.gather(*(team.finish(name) for name in names))
