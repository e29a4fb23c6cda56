"""Judging over HTTP: `amplifier judge` with the default bundle, in its own process, 50 clients.

A judgement is a call that is allowed and the report of its result: two requests on a connection
that stays open. Beside it, the same client sends two requests that the same server answers without
judging anything, with the same credential: what it takes longer is what judging adds.

at work    each client has a call judged every two seconds: fast agents, for models are slower
at once    each client has the next one judged as soon as it has the answer
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

from amplifier_hooks.server.judge_server import (
    ListenSettings,
    bind,
    create_judge_app,
    create_server,
)
from amplifier_hooks.server.settings import JudgeSettings
from benchmarks.harness import Row, report

CLIENTS = 50
PAUSE = 2.0
ROUNDS = 15
SATURATED_SECONDS = 5.0
TOKEN = "b" * 43
API = "/api/v1/judge/sessions"
OUTPUT = "tests/test_cart.py ....                                   [100%]\n4 passed in 0.03s\n"


def make_call(number: int) -> tuple[str, dict[str, Any]]:
    """What an agent that fixes things does, one after the other; no two are alike."""
    path = f"src/shop/part_{number}.py"
    calls = (
        ("Bash", {"command": f"git log --oneline -5 {path}", "description": "See what changed"}),
        ("Read", {"file_path": path}),
        ("Edit", {"file_path": path, "old_string": "total = 1", "new_string": "total = 2"}),
        ("Bash", {"command": f"python -m pytest -q tests/test_part_{number}.py | tail -5"}),
    )
    return calls[number % len(calls)]


def run_server(folder: str, pipe: Connection) -> None:
    """The server's process: says where it is, ends when told."""
    home = Path(folder)
    os.environ.update(HOME=folder, XDG_DATA_HOME=f"{folder}/data", XDG_CONFIG_HOME=f"{folder}/c")

    async def main() -> None:
        listening = bind(ListenSettings(port=0))
        port = listening.getsockname()[1]
        work = home / "work"
        work.mkdir()
        settings = ListenSettings(port=port, judge=JudgeSettings(folder=work))
        server = create_server(create_judge_app(settings, TOKEN))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        pipe.send(port)
        await asyncio.to_thread(pipe.recv)
        server.should_exit = True
        await serving

    asyncio.run(main())


class Client:
    """A connection, and the session of one agent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._number = 0
        self._path = API

    @classmethod
    async def open(cls, port: int, name: str) -> Client:
        """Connect, and open a session."""
        client = cls(*await asyncio.open_connection("127.0.0.1", port))
        session = await client.send("POST", API, {"key": name, "program": "bench"})
        client._path = f"{API}/{session['session']}"
        return client

    async def send(self, method: str, path: str, body: Any = None) -> Any:
        """One request and its answer."""
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Authorization: Bearer {TOKEN}\r\n"
        )
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        self._writer.write(f"{head}\r\n".encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        told = json.loads(await self._reader.readexactly(length))
        if not answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
            raise SystemExit(f"{method} {path}: {told}")
        return told

    @property
    def _port(self) -> int:
        port: int = self._writer.get_extra_info("peername")[1]
        return port

    async def judge(self) -> float:
        """Seconds that a call and the report of its result take."""
        self._number += 1
        tool, given = make_call(self._number)
        id = f"c{self._number}"
        events = f"{self._path}/events"
        start = perf_counter()
        call = {"event": "call", "id": id, "tool": tool, "input": given}
        told = await self.send("POST", events, call)
        if told["decision"] != "allow":
            raise SystemExit(f"{tool} was not allowed: {told}")
        result = {"event": "result", "id": f"r{id}", "call": id, "output": OUTPUT}
        await self.send("POST", events, result)
        return perf_counter() - start

    async def look(self) -> float:
        """Seconds that two requests take which judge nothing."""
        start = perf_counter()
        await self.send("GET", self._path)
        await self.send("GET", self._path)
        return perf_counter() - start

    async def work(self) -> tuple[list[float], list[float]]:
        """Do both in turns, at a pace; the seconds of each."""
        judged, looked = [], []
        for _ in range(ROUNDS):
            await asyncio.sleep(random.uniform(0.0, PAUSE))
            judged.append(await self.judge())
            await asyncio.sleep(random.uniform(0.0, PAUSE))
            looked.append(await self.look())
        return judged, looked

    async def hurry(self, once: str) -> int:
        """How often it comes round."""
        end = perf_counter() + SATURATED_SECONDS
        count = 0
        while perf_counter() < end:
            await getattr(self, once)()
            count += 1
        return count


def find_percentile(seconds: list[float], percent: int) -> float:
    """In milliseconds."""
    return quantiles(seconds, n=100)[percent - 1] * 1000


async def measure(port: int) -> list[Row]:
    """All rows."""
    clients = [await Client.open(port, f"client {number}") for number in range(CLIENTS)]
    for client in clients:
        await client.judge()
    worked = await asyncio.gather(*(client.work() for client in clients))
    judged = [one for some, _ in worked for one in some]
    looked = [one for _, some in worked for one in some]
    rows = []
    for percent, goal in ((50, 1.5), (99, 5.0)):
        bare, full = find_percentile(looked, percent), find_percentile(judged, percent)
        what = f"milliseconds that a judgement adds, 50 clients at work, p{percent}"
        rows.append(Row(what, full - bare, goal, bare * 1000, full * 1000))
    rates = {}
    for once in ("look", "judge"):
        counts = await asyncio.gather(*(client.hurry(once) for client in clients))
        rates[once] = sum(counts) / SATURATED_SECONDS
    bare_us, full_us = 1e6 / rates["look"], 1e6 / rates["judge"]
    what = "a judgement / two empty answers, 50 clients at once"
    rows.append(Row(what, full_us / bare_us, None, bare_us, full_us))
    return rows


def main() -> None:
    """Start the server, and measure."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        server = context.Process(target=run_server, args=(folder, there), daemon=True)
        server.start()
        try:
            rows = asyncio.run(measure(here.recv()))
        finally:
            here.send("end")
            server.join(30)
    report("Judging over HTTP", rows)


if __name__ == "__main__":
    main()
