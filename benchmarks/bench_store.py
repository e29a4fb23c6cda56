"""The approval store on SQLite, with every sync of the disk that its promises need.

create     10,000 approvals, each durable when its agent goes on: seconds for 1,000
race       20,000 decisions of 64 people on 10,000 approvals: the winners, and the 99th percentile
wake       from a person's decision to the agent that waits: the 99th percentile
alone      one decision at a time, which cannot share its sync: against a bare write and sync
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalRequest,
    Choice,
    Decider,
    Option,
)
from amplifier_hooks.approvals.stores.store import Store, open_store
from benchmarks.harness import Row, report

APPROVALS = 10_000
AGENTS = 100
DECISIONS = 20_000
PEOPLE = 64
WAITERS = 300
ALONE = 100
OPTIONS = (Option(id=0, label="Allow once", allows=True), Option(id=1, label="Deny", allows=False))


def make_request(number: int) -> ApprovalRequest:
    """A question such as a guard puts."""
    return ApprovalRequest(
        key=f"key-{number}",
        session_id=f"session-{number % AGENTS}",
        prompt="Write to production?",
        options=OPTIONS,
        timeout=3600.0,
        digest=f"{number:064x}",
        hook="production-guard",
        event="tool:pre",
        tool_name="Write",
        tool_call_id=f"call-{number}",
        tool_input={"file_path": f"/srv/production/{number}.yaml", "content": "x" * 200},
        machine="laptop",
        working_dir="/srv",
    )


async def create(store: Store) -> tuple[list[Approval], float]:
    """All approvals, by agents that each wait until their question is durable."""
    asked: dict[int, Approval] = {}

    async def run_agent(agent: int) -> None:
        for number in range(agent, APPROVALS, AGENTS):
            asked[number] = await store.approvals.request(make_request(number))

    start = time.perf_counter()
    await asyncio.gather(*map(run_agent, range(AGENTS)))
    return list(asked.values()), time.perf_counter() - start


async def race(store: Store, asked: Sequence[Approval]) -> tuple[int, list[float]]:
    """How many decisions won, and how long each took."""
    targets = [one for one in asked for _ in range(DECISIONS // APPROVALS)]
    random.Random(7).shuffle(targets)
    winners, times = 0, list[float]()

    async def run_person(person: int) -> None:
        nonlocal winners
        for at in range(person, DECISIONS, PEOPLE):
            approval = targets[at]
            start = time.perf_counter()
            try:
                await store.approvals.decide(
                    approval.id,
                    Choice(option=at % 2, nonce=approval.nonce, key=f"decision-{at}"),
                    Decider(f"person-{person}", "web"),
                )
                winners += 1
            except Conflict:
                pass
            times.append(time.perf_counter() - start)

    await asyncio.gather(*map(run_person, range(PEOPLE)))
    return winners, times


async def wake(store: Store) -> list[float]:
    """How long after the decision was sent its agent goes on; one at a time."""
    times: list[float] = []
    for number in range(WAITERS):
        asked = await store.approvals.request(make_request(APPROVALS + number))
        waiting = asyncio.create_task(store.approvals.wait(asked.id, 60))
        await asyncio.sleep(0.01)
        start = time.perf_counter()
        choice = Choice(option=0, nonce=asked.nonce, key="decision")
        deciding = store.approvals.decide(asked.id, choice, Decider("ann", "web"))
        await asyncio.gather(deciding, waiting)
        times.append(time.perf_counter() - start)
    return times


async def compare_alone(store: Store, folder: Path) -> Row:
    """A decision without company, against a page written and synced."""
    file = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT)
    bare = subject = 0.0
    for number in range(ALONE):
        asked = await store.approvals.request(make_request(2 * APPROVALS + number))
        start = time.perf_counter()
        os.pwrite(file, b"x" * 8192, number * 8192)
        os.fsync(file)
        bare += time.perf_counter() - start
        choice = Choice(option=0, nonce=asked.nonce, key="decision")
        start = time.perf_counter()
        await store.approvals.decide(asked.id, choice, Decider("ann", "web"))
        subject += time.perf_counter() - start
    os.close(file)
    name = "one decision alone, in bare writes with sync"
    return Row(name, subject / bare, 5, bare / ALONE * 1e6, subject / ALONE * 1e6)


def find_p99(times: Sequence[float]) -> float:
    """The 99th percentile, in milliseconds."""
    return sorted(times)[len(times) * 99 // 100] * 1000


async def measure() -> list[Row]:
    """All rows; a store that fails its promise gives no figures."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        async with await open_store(Path(folder) / "store.db") as store:
            asked, seconds = await create(store)
            winners, racing = await race(store, asked)
            woken = await wake(store)
            alone = await compare_alone(store, Path(folder))
    return [
        *make_rows(seconds, winners, racing),
        make_wait_row("decision to waiting agent, p99, milliseconds", woken, 20),
        alone,
    ]


def make_rows(seconds: float, winners: int, racing: list[float]) -> list[Row]:
    """What every database must reach: how fast it takes questions, and that one decider wins."""
    per_thousand, race_p99 = seconds / APPROVALS * 1000, find_p99(racing)
    return [
        Row("1,000 approvals created durably, seconds", per_thousand, 1, 0, per_thousand * 1e6),
        Row("winners of 20,000 decisions on 10,000", winners / APPROVALS, 1, 0, 0),
        Row("lost of 20,000 decisions on 10,000", 2 - winners / APPROVALS, 1, 0, 0),
        Row("a racing decision, p99, milliseconds", race_p99, 150, 0, race_p99 * 1000),
    ]


def make_wait_row(name: str, woken: list[float], goal: float) -> Row:
    """How long a decision is on its way to who waits for it."""
    wake_p99 = find_p99(woken)
    return Row(name, wake_p99, goal, 0, wake_p99 * 1000)


def main() -> None:
    """Print the table."""
    report("approval store", asyncio.run(measure()))


if __name__ == "__main__":
    main()
