"""The server of `amplifier serve`, in a process of its own, over loopback.

told       from a question to the last of 5,000 WebSockets that hear of it, in seconds
memory     what 5,000 WebSockets cost the server, in megabytes
reading    one approval, with its credential, by 16 clients at once: against an empty answer
decision   from a decision over HTTP to the agent's long poll: the 99th percentile
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.client import HttpLink, PeopleClient
from amplifier_hooks.approvals.http_connection import Connection as Server
from amplifier_hooks.approvals.models import ApprovalRequest, Choice, Value
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.machine.open_files import raise_file_limit
from amplifier_hooks.server.app import create_app
from amplifier_hooks.server.server import bind, create_server
from amplifier_hooks.server.settings import ServerSettings
from benchmarks.bench_store import find_p99, make_request
from benchmarks.harness import Row, report

SOCKETS = 5000
AT_ONCE = 100
ROUNDS = 2
READS = 320
CLIENTS = 16
DECISIONS = 100
_HELLO = b'{"type":"hello"}'
_FRAME = bytes([0x81, 0x80 | len(_HELLO)]) + bytes(4) + _HELLO


def run_server(folder: str, pipe: Connection) -> None:
    """The server's process: says where it is and how to get in, ends when told."""

    async def main() -> None:
        raise_file_limit(2 * SOCKETS)
        listening = bind(ServerSettings(port=0))
        settings = ServerSettings(port=listening.getsockname()[1])
        async with await open_store(Path(folder) / "store.db") as store:
            agent, _ = await store.access.add_token("bot", ["agent"])
            person, _ = await store.access.add_token("ann", ["read", "decide"])
            server = create_server(create_app(store, settings), settings)
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            pipe.send((settings.port, agent, person))
            await asyncio.to_thread(pipe.recv)
            server.should_exit = True
            await serving

    asyncio.run(main())


class Listener(asyncio.Protocol):
    """One WebSocket that looks for a text, with as little of its own work as possible."""

    def __init__(self, handshake: bytes, crowd: Crowd) -> None:
        self._handshake, self._crowd = handshake, crowd
        self._seen = b""
        self._connected = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._handshake)

    def data_received(self, data: bytes) -> None:
        self._seen = self._seen[-200:] + data
        if not self._connected and b"\r\n\r\n" in self._seen:
            self._connected = True
            self.transport.write(_FRAME)
        if self._crowd.wanted in self._seen:
            self._seen = b""
            self._crowd.count()


class Crowd:
    """Everybody who listens, and how many have heard the text that is wanted now."""

    def __init__(self) -> None:
        self.want(b'"type":"pending"')

    def want(self, text: bytes) -> None:
        self.wanted, self.heard = text, 0
        self._enough, self._reached = SOCKETS, asyncio.Event()

    def count(self) -> None:
        self.heard += 1
        if self.heard == self._enough:
            self._reached.set()

    async def wait_for(self, enough: int) -> None:
        self._enough = enough
        if self.heard < enough:
            self._reached.clear()
            await asyncio.wait_for(self._reached.wait(), 60)


async def gather_crowd(port: int, token: str) -> Crowd:
    """All sockets, connected, welcomed, and told what is pending."""
    handshake = (
        f"GET /api/v1/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()
    crowd, loop = Crowd(), asyncio.get_running_loop()
    for already in range(0, SOCKETS, AT_ONCE):
        connecting = (
            loop.create_connection(lambda: Listener(handshake, crowd), "127.0.0.1", port)
            for _ in range(AT_ONCE)
        )
        await asyncio.gather(*connecting)
        # Whoever comes while the server is busy with others may say hello too late.
        await crowd.wait_for(already + AT_ONCE)
    return crowd


async def tell(crowd: Crowd, link: HttpLink) -> float:
    """How long after a question was sent the last one has heard of it; the best of some rounds."""
    times = []
    for number in range(ROUNDS):
        text = f"question number {number}"
        crowd.want(text.encode())
        start = time.perf_counter()
        request = make_request(5000 + number)
        await link.request(_rename(request, text))
        await crowd.wait_for(SOCKETS)
        times.append(time.perf_counter() - start)
    return min(times)


def _rename(request: ApprovalRequest, prompt: str) -> ApprovalRequest:
    return request.model_copy(update={"prompt": prompt, "session_id": f"session of {prompt}"})


async def read(port: int, token: str, path: str) -> float:
    """Seconds for each reading."""
    clients = [Server(f"http://127.0.0.1:{port}", token) for _ in range(CLIENTS)]

    async def work(client: Server) -> None:
        for _ in range(READS // CLIENTS):
            await client.get(path, Value)

    start = time.perf_counter()
    await asyncio.gather(*map(work, clients))
    spent = time.perf_counter() - start
    await asyncio.gather(*(client.close() for client in clients))
    return spent / READS


async def decide(port: int, link: HttpLink, token: str) -> list[float]:
    """How long after a decision was sent the agent that waits goes on."""
    person, times = PeopleClient(f"http://127.0.0.1:{port}", token), []
    for number in range(DECISIONS):
        asked = await link.request(make_request(1000 + number))
        waiting = asyncio.create_task(link.wait(asked.id, 60))
        nonce = (await person.get(asked.id)).nonce
        start = time.perf_counter()
        await person.decide(asked.id, Choice(option=0, nonce=nonce, key="decision"))
        await waiting
        times.append(time.perf_counter() - start)
    await person.close()
    return times


def read_memory(process: int) -> float:
    """The resident memory of a process, in megabytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return next(
        int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")
    )


async def measure(process: int, port: int, agent: str, person: str) -> list[Row]:
    """All rows."""
    link = HttpLink(f"http://127.0.0.1:{port}", agent)
    asked = await link.request(make_request(0))
    empty = min([await read(port, person, "/health") for _ in range(ROUNDS)])
    full = min([await read(port, person, f"/approvals/{asked.id}") for _ in range(ROUNDS)])
    woken = find_p99(await decide(port, link, person))
    before = read_memory(process)
    crowd = await gather_crowd(port, person)
    memory = read_memory(process) - before
    told = await tell(crowd, link)
    await link.close()
    return [
        Row("a question told to 5,000 WebSockets, seconds", told, 1, 0, told * 1e6),
        Row("memory of 5,000 WebSockets, megabytes", memory, 200, 0, 0),
        Row("reading one approval / an empty answer", full / empty, 3, empty * 1e6, full * 1e6),
        Row("decision to agent over HTTP, p99, milliseconds", woken, None, 0, woken * 1000),
    ]


def main() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    raise_file_limit(SOCKETS + 500)
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        server = context.Process(target=run_server, args=(folder, there), daemon=True)
        server.start()
        port, agent, person = here.recv()
        rows = asyncio.run(measure(server.pid or 0, port, agent, person))
        here.send("end")
        server.join(30)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    report("server", rows)


if __name__ == "__main__":
    main()
