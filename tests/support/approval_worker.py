"""An agent's process that asks, waits, claims, runs and reports, and that dies where it is told to.

Its processes are forked from one that has everything imported, so that starting one takes no time.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess as Process
from pathlib import Path

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import ApprovalRequest, Option
from amplifier_hooks.approvals.stores.store import open_store

POINTS = (
    "before the request",
    "after the request",
    "while waiting",
    "after the decision",
    "after the claim",
    "during the run",
    "after the run",
    "after the report",
)
OPTIONS = (Option(id=0, label="Allow", allows=True), Option(id=1, label="Deny", allows=False))
LONG = 600.0


@dataclass(frozen=True)
class Life:
    """What one process does; the same key again is the same call, resumed."""

    key: str
    effect: Path
    """The file that its call appends to."""
    lease: float = LONG
    point: str = ""
    """Where it stops; without one it lives to its end."""
    number: int = signal.SIGKILL

    def request(self) -> ApprovalRequest:
        """What it asks."""
        return ApprovalRequest(
            key=self.key,
            session_id=f"session-{self.key}",
            prompt="Run it?",
            options=OPTIONS,
            timeout=LONG,
            digest="d1",
            hook="guard",
            tool_name="Bash",
            tool_call_id="call-1",
            machine="here",
        )

    def stop(self, point: str) -> None:
        """The end, if it is the point for it."""
        if point == self.point:
            os.kill(os.getpid(), self.number)


async def live(link: AgentLink, life: Life) -> str:
    """One call from the question to the report; how it ended."""
    life.stop("before the request")
    approval = await link.request(life.request())
    life.stop("after the request")
    if life.point == "while waiting":
        asyncio.get_running_loop().call_later(0.2, life.stop, life.point)
    while approval.status == "pending":
        approval = await link.wait(approval.id, 30.0)
    life.stop("after the decision")
    try:
        claim = await link.claim(f"session-{life.key}", "call-1", "d1", life.lease)
    except Conflict:
        return approval.status
    assert claim is not None
    life.stop("after the claim")
    append(life.effect, "begun")
    life.stop("during the run")
    append(life.effect, "done")
    life.stop("after the run")
    await link.finish(claim, "executed")
    life.stop("after the report")
    return "executed"


def append(file: Path, line: str) -> None:
    """The side effect: a line that stays whatever happens to the process."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f"{line}\n")
        opened.flush()
        os.fsync(opened.fileno())


def run_on_store(url: str, life: Life) -> None:
    """A process whose agent has the store itself."""

    async def main() -> str:
        async with await open_store(url) as store:
            return await live(store.as_link(), life)

    asyncio.run(main())


def run_on_server(url: str, token: str, life: Life) -> None:
    """A process whose agent knows only a server."""
    from amplifier_hooks.approvals.client import HttpLink

    async def main() -> str:
        link = HttpLink(url, token, patience=LONG)
        try:
            return await live(link, life)
        finally:
            await link.close()

    asyncio.run(main())


def run_server(store_url: str, port: int, address: Path) -> None:
    """A server's process; once it listens, the file holds its address."""
    from amplifier_hooks.server.server import serve
    from amplifier_hooks.server.settings import ServerSettings

    async def tell(store: object, settings: ServerSettings) -> None:
        written = address.with_suffix(".new")
        written.write_text(f"http://127.0.0.1:{settings.port}")
        written.rename(address)

    asyncio.run(serve(ServerSettings(port=port), store_url, ready=tell))


class Processes:
    """Starts processes; all are ended when the block is left."""

    def __init__(self, *imported: str) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__, "psycopg", *imported])
        self._started: list[Process] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *raised: object) -> None:
        for process in self._started:
            process.kill()
            process.join()

    def start(self, target: Callable[..., None], *arguments: object) -> Process:
        """A process that runs a function of a module."""
        process = self._context.Process(target=target, args=arguments, daemon=True)
        process.start()
        self._started.append(process)
        return process

    async def finish(self, target: Callable[..., None], *arguments: object) -> int:
        """Start one, and wait for its end; its exit code, or minus the signal that ended it."""
        return await wait_for_end(self.start(target, *arguments))


async def wait_for_end(process: Process) -> int:
    """Its exit code, without a thread for each."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()
    assert process.exitcode is not None
    return process.exitcode
