"""The approval store on a real PostgreSQL server that syncs its disk.

create     10,000 approvals, each durable when its agent goes on: seconds for 1,000
race       20,000 decisions of 64 people on 10,000 approvals: the winners, and the 99th percentile
wake       from a person's decision to the agent that waits in another process: the 99th percentile
alone      one decision at a time: against one bare statement that is committed, on the same server
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import psycopg

from amplifier_hooks.approvals.models import Choice, Decider
from amplifier_hooks.approvals.stores.store import Store, open_store
from benchmarks.bench_store import (
    ALONE,
    APPROVALS,
    WAITERS,
    create,
    make_request,
    make_rows,
    make_wait_row,
    race,
)
from benchmarks.harness import Row, report
from tests.support.postgres_server import PostgresServer


def run_agent(url: str, pipe: Connection) -> None:
    """Another process: waits for each approval that it is told of, and says when it went on."""

    async def main() -> None:
        async with await open_store(url) as store:
            while approval_id := await asyncio.to_thread(pipe.recv):
                waiting = asyncio.create_task(store.approvals.wait(approval_id, 60))
                await asyncio.sleep(0.01)
                pipe.send("waits")
                await waiting
                pipe.send(time.clock_gettime(time.CLOCK_MONOTONIC))

    asyncio.run(main())


async def wake(store: Store, url: str) -> list[float]:
    """How long after the decision was sent its agent goes on, in another process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    agent = context.Process(target=run_agent, args=(url, there), daemon=True)
    agent.start()
    times: list[float] = []
    for number in range(WAITERS):
        asked = await store.approvals.request(make_request(APPROVALS + number))
        here.send(asked.id)
        await asyncio.to_thread(here.recv)
        start = time.clock_gettime(time.CLOCK_MONOTONIC)
        choice = Choice(option=0, nonce=asked.nonce, key="decision")
        await store.approvals.decide(asked.id, choice, Decider("ann", "web"))
        times.append(await asyncio.to_thread(here.recv) - start)
    here.send("")
    agent.join()
    return times


async def compare_alone(store: Store, url: str) -> Row:
    """A decision without company, against the least that a database can do durably."""
    bare = subject = 0.0
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE bare (id BIGINT PRIMARY KEY, text TEXT)")
        for number in range(ALONE):
            asked = await store.approvals.request(make_request(2 * APPROVALS + number))
            start = time.perf_counter()
            connection.execute("INSERT INTO bare VALUES (%s, %s)", (number, "x" * 500))
            bare += time.perf_counter() - start
            choice = Choice(option=0, nonce=asked.nonce, key="decision")
            start = time.perf_counter()
            await store.approvals.decide(asked.id, choice, Decider("ann", "web"))
            subject += time.perf_counter() - start
    name = "one decision alone, in bare commits"
    return Row(name, subject / bare, 8, bare / ALONE * 1e6, subject / ALONE * 1e6)


async def measure(url: str) -> list[Row]:
    """All rows; a store that fails its promise gives no figures."""
    async with await open_store(url) as store:
        asked, seconds = await create(store)
        winners, racing = await race(store, asked)
        woken = await wake(store, url)
        alone = await compare_alone(store, url)
    return [
        *make_rows(seconds, winners, racing),
        make_wait_row("decision to another process, p99, milliseconds", woken, 50),
        alone,
    ]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), fsync="on")
        server.create()
        server.start()
        try:
            rows = asyncio.run(measure(server.create_database()))
        finally:
            server.stop()
    report("store on PostgreSQL", rows)


if __name__ == "__main__":
    main()
