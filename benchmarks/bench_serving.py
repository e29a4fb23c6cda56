"""A server on PostgreSQL, in a process of its own: what questions cost it, and what many change.

create     one question put, processor time of the server: in empty answers, and in milliseconds
decide     one decision, the same
growth     from a decision to the agent that waits, while 20 pages open: 5,000 questions or 400
history    lists, statistics and /metrics with 300,000 finished approvals; the baseline has 3,000
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psycopg
from websockets.asyncio.client import connect

from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.server.app import create_app
from amplifier_hooks.server.encoding import encode
from amplifier_hooks.server.routes.statistics import write_metrics
from amplifier_hooks.server.server import bind, create_server
from amplifier_hooks.server.settings import ServerSettings
from benchmarks.bench_store import find_p99, make_request
from benchmarks.harness import Row, report
from tests.support.postgres_server import PostgresServer

CLIENTS = 64
QUESTIONS = 1_280
ROUNDS = 2
PAGES = 20
DECISIONS = 100
FEW, MANY = 400, 5_000
FINISHED = (3_000, 300_000)


def run_server(url: str, pipe: Connection) -> None:
    """The server's process: says where it is and how to get in, ends when told."""

    async def main() -> None:
        gc.set_threshold(50_000)  # as `amplifier serve` does
        listening = bind(ServerSettings(port=0))
        settings = ServerSettings(port=listening.getsockname()[1])
        async with await open_store(url) as store:
            agents = [
                (await store.access.add_token(f"bot-{number}", ["agent"]))[0]
                for number in range(CLIENTS)
            ]
            person, _ = await store.access.add_token("ann", ["read", "decide"])
            server = create_server(create_app(store, settings), settings)
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            pipe.send((settings.port, agents, person))
            await asyncio.to_thread(pipe.recv)
            server.should_exit = True
            await serving

    asyncio.run(main())


class Client:
    """One connection that is kept, with as little of its own work as possible."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer as JSON; who expects another than 200 or 201 has none."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        kind = "" if body is None else "Content-Type: application/json\r\n"
        head = (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n{kind}"
            f"Authorization: Bearer {self._token}\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        writer.write(head.encode() + data)
        answered = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answered.partition(b"content-length: ")[2].split(b"\r\n")[0])
        content = await reader.readexactly(length)
        assert answered.split()[1] in (b"200", b"201"), content
        return json.loads(content)


class Served:
    """A running server, its agents and a person."""

    def __init__(self, process: int, port: int, agents: list[str], person: str) -> None:
        self._process, self.port, self.person = process, port, person
        self._agents = agents
        self._asked = 0

    async def ask(self, many: int) -> list[tuple[int, str]]:
        """Put questions, by all agents at once; whose each is, and its id."""
        numbers = iter(range(self._asked, self._asked + many))
        self._asked += many
        found: list[tuple[int, str]] = []

        async def work(agent: int) -> None:
            client = Client(self.port, self._agents[agent])
            for number in numbers:
                request = make_request(number).model_copy(update={"session_id": f"s-{agent}"})
                asked = await client.call("POST", "/agent/approvals", request.model_dump())
                found.append((agent, asked["id"]))

        await asyncio.gather(*map(work, range(CLIENTS)))
        return found

    async def read_nonces(self) -> dict[str, str]:
        """The nonce of each question that waits."""
        client, found, after = Client(self.port, self.person), dict[str, str](), ""
        while True:
            page = await client.call("GET", f"/approvals?status=pending&limit=500&after={after}")
            found |= {one["id"]: one["nonce"] for one in page["approvals"]}
            if not (after := page["next"]):
                return found

    async def spread(
        self, jobs: Iterable[Any], work: Callable[[Client, Any], Awaitable[Any]]
    ) -> None:
        """Do them by 64 clients at once, as the person."""
        left = iter(jobs)

        async def go_on() -> None:
            client = Client(self.port, self.person)
            for job in left:
                await work(client, job)

        await asyncio.gather(*(go_on() for _ in range(CLIENTS)))

    async def measure(self, many: int, work: Awaitable[Any]) -> float:
        """Milliseconds of processor time of the server for each of so many."""
        before = self._read_cpu()
        await work
        return (self._read_cpu() - before) / many * 1000

    def _read_cpu(self) -> float:
        tasks = Path(f"/proc/{self._process}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    async def wait(self, agent: int, approval_id: str) -> float:
        """When the agent's long poll is answered."""
        client = Client(self.port, self._agents[agent])
        await client.call("GET", f"/agent/approvals/{approval_id}?wait=60")
        return time.perf_counter()


async def decide(client: Client, approval: tuple[str, str]) -> None:
    """Allow it."""
    id, nonce = approval
    body = {"option": 0, "nonce": nonce, "key": f"key-{id}"}
    await client.call("POST", f"/approvals/{id}/decision", body)


async def measure_costs(served: Served) -> list[Row]:
    """The best of some rounds, each of empty answers, questions and decisions in turns."""
    best = {"empty": float("inf"), "create": float("inf"), "decide": float("inf")}

    def keep(name: str, spent: float) -> None:
        best[name] = min(best[name], spent)

    async def look(client: Client, _: int) -> None:
        await client.call("GET", "/health")

    for _ in range(ROUNDS):
        keep("empty", await served.measure(QUESTIONS, served.spread(range(QUESTIONS), look)))
        keep("create", await served.measure(QUESTIONS, served.ask(QUESTIONS)))
        nonces = await served.read_nonces()
        keep("decide", await served.measure(QUESTIONS, served.spread(nonces.items(), decide)))
    empty = best["empty"]
    rows = []
    for name, what in (("create", "one question put"), ("decide", "one decision")):
        base, spent = empty * 1000, best[name] * 1000
        rows.append(
            Row(f"{what}, CPU of the server, in empty answers", best[name] / empty, 5, base, spent)
        )
        rows.append(Row(f"{what}, CPU of the server, milliseconds", best[name], 1.5, 0, spent))
    return rows


async def open_page(port: int, token: str) -> None:
    """What a browser does: says hello, and reads whatever comes."""
    headers = {"Authorization": f"Bearer {token}"}
    address = f"ws://127.0.0.1:{port}/api/v1/live"
    async with connect(address, additional_headers=headers, proxy=None, max_size=None) as socket:
        await socket.send('{"type":"hello","window":100}')
        async for _ in socket:
            pass


def open_pages(port: int, token: str, pipe: Connection) -> None:
    """A process of pages; it says when it is there, and opens them when told."""
    pipe.send("ready")
    pipe.recv()

    async def main() -> None:
        await asyncio.gather(
            *(open_page(port, token) for _ in range(PAGES)), return_exceptions=True
        )

    asyncio.run(main())


async def measure_wake(served: Served, waiting: int) -> float:
    """The 99th percentile from a decision to its agent, while pages open; in milliseconds."""
    await served.ask(waiting)
    asked = await served.ask(DECISIONS)
    nonces = await served.read_nonces()
    polls = [asyncio.create_task(served.wait(agent, id)) for agent, id in asked]
    await asyncio.sleep(0.5)
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    pages = context.Process(
        target=open_pages, args=(served.port, served.person, there), daemon=True
    )
    pages.start()
    await asyncio.to_thread(here.recv)
    here.send("open")
    person, sent = Client(served.port, served.person), list[float]()
    for _, id in asked:
        sent.append(time.perf_counter())
        await decide(person, (id, nonces[id]))
        await asyncio.sleep(0.01)
    answered = await asyncio.gather(*polls)
    pages.terminate()
    pages.join()
    return find_p99([end - begin for begin, end in zip(sent, answered, strict=True)])


@asynccontextmanager
async def serve(url: str) -> Any:
    """A server for one measurement."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=run_server, args=(url, there), daemon=True)
    server.start()
    try:
        yield Served(server.pid or 0, *here.recv())
    finally:
        with suppress(OSError):
            here.send("end")
        await asyncio.to_thread(server.join, 30)


_FILL = """
INSERT INTO approvals (id, request_key, nonce, status, session_id, tool_call_id, hook, event,
    tool_name, machine, requester, digest, default_answer, persons, request, created, deadline,
    updated, allowed, decided_by)
SELECT md5(n::text), 'k' || n, 'n', (ARRAY['executed', 'denied', 'expired'])[1 + n %% 3],
    's' || n %% 20000, 'c' || n, 'hook-' || n %% 25, event, tool_name, 'machine-' || n %% 50,
    requester, digest, default_answer, persons, request, unix_now() - n * 100.0,
    unix_now() - n * 100.0, unix_now() - n * 100.0,
    CASE WHEN n %% 3 = 2 THEN NULL ELSE n %% 3 END, 'ann'
FROM approvals, generate_series(1, %(many)s) AS n
"""
_FILL_FIGURES = """
INSERT INTO hook_figures (hour, hook, event, action, calls, milliseconds, slowest)
SELECT floor(unix_now() / 3600) * 3600 - h * 3600.0, 'hook-' || k, 'tool:pre', act, 5, 3.0, 1.0
FROM generate_series(0, 8760) AS h, generate_series(1, 25) AS k,
    unnest(ARRAY['continue', 'deny']) AS act
"""


def fill(url: str, many: int) -> None:
    """Finished approvals of years, and a year of figures."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_FILL, {"many": many})
        connection.execute(_FILL_FIGURES)
        connection.execute("VACUUM ANALYZE")


async def read_history(store: Store) -> dict[str, float]:
    """Seconds for each, the best of three."""

    async def find_gone() -> None:
        for wanted in (ApprovalFilter(hook="gone"), ApprovalFilter(machine="gone")):
            await store.approvals.list(wanted)

    async def add_up() -> None:
        since = time.time() - 30 * 86_400
        found = await store.statistics.read_buckets(since, hours=24)
        encode({"figures": found.figures, "overrulings": await store.statistics.overrulings(since)})

    async def write() -> None:
        figures, rest = await store.statistics.sum_up()
        write_metrics(figures, rest, await store.statistics.count_states())

    found = {}
    for name, work in (
        ("a hook and a machine that are gone", find_gone),
        ("statistics of 30 days", add_up),
        ("/metrics", write),
    ):
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            await work()
            times.append(time.perf_counter() - begin)
        found[name] = min(times)
    return found


async def measure_history(server: PostgresServer) -> list[Row]:
    """What 100 times as many finished approvals change, and how long it takes then."""
    times = []
    for many in FINISHED:
        url = server.create_database()
        async with await open_store(url) as store:
            await store.approvals.request(make_request(0))
            await asyncio.to_thread(fill, url, many)
            times.append(await read_history(store))
    few, full = times
    return [
        Row(
            f"{name}, 300,000 finished approvals, seconds",
            full[name],
            0.3,
            few[name] * 1e6,
            full[name] * 1e6,
        )
        for name in few
    ]


async def measure(server: PostgresServer) -> list[Row]:
    """All rows."""
    async with serve(server.create_database()) as served:
        rows = await measure_costs(served)
    woken = []
    for waiting in (FEW, MANY):
        async with serve(server.create_database()) as served:
            woken.append(await measure_wake(served, waiting))
    few, many = woken
    rows.append(
        Row(
            "decision to agent, p99 ms, 5,000 open and 20 pages opening",
            many,
            150,
            few * 1000,
            many * 1000,
        )
    )
    rows.append(Row("the same with 5,000 against 400 open", many / few, 3, few * 1000, many * 1000))
    return [*rows, *await measure_history(server)]


def main() -> None:
    if not Path("/proc/self/task").is_dir():
        return  # the processor time of another process is read there
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), fsync="on", max_wal_size="4GB")
        server.create()
        server.start()
        try:
            rows = asyncio.run(measure(server))
        finally:
            server.stop()
    report("a server on PostgreSQL", rows)


if __name__ == "__main__":
    main()
