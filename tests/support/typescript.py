"""Agents of the TypeScript client in a Node process, judged over HTTP by the hooks of a stage.

The server is the one of `amplifier judge`, here in this process: its sessions are those of the
stage's governor instead of a bundle's.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import json
import os
import secrets
import shutil
import socket
import subprocess
import threading
from abc import abstractmethod
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from amplifier_hooks.coverage import OVER_HTTP, Coverage
from amplifier_hooks.external.handover import RunApproval
from amplifier_hooks.external.opening import BundleSource, RegistrySource
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.server.judge_server import (
    ListenSettings,
    create_judge_app,
    create_server,
)
from amplifier_hooks.server.judging import bodies
from amplifier_hooks.server.judging.host import JudgeHost
from amplifier_hooks.server.judging.judging import PeopleAsked
from amplifier_hooks.server.judging.session import JudgedSession, ShownMessages, Terms
from tests.adapters.drivers.driver import Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
PROGRAM = CLIENT / "dist" / "test" / "contract.js"

NO_SYNC = "Node has no synchronous entry point"
NO_INTERRUPT = "people are asked by the server, not by the program"
NO_CONVERSATION = "its turns are those of guard.conversation(...), see clients/typescript/test"
NO_COORDINATOR = "a session belongs to the server"
ALWAYS_JUDGED = "without a server there is nothing of ours in it"
CANNOT = {
    "without_hooks_nothing_of_ours_is_attached": ALWAYS_JUDGED,
    "the_synchronous_entry_point_is_governed": NO_SYNC,
    "a_question_in_the_synchronous_entry_point": NO_SYNC,
    "a_question_is_handed_over_to_the_framework": NO_INTERRUPT,
    "an_answer_to_something_else_runs_nothing": NO_INTERRUPT,
    "the_frameworks_own_answer_counts": NO_INTERRUPT,
    "the_frameworks_own_yes_is_bound_to_what_was_shown": NO_INTERRUPT,
    "a_conversation_is_one_session": NO_CONVERSATION,
}


class StageHost(JudgeHost):
    """Opens sessions over the hooks of a governor."""

    def __init__(self, settings: ListenSettings, governor: Governor) -> None:
        super().__init__(settings.judge)
        self._governor = governor
        source: Any = governor._source
        if isinstance(source, RegistrySource | BundleSource):
            asked = PeopleAsked(RunApproval(source._settings.approval))
            source._settings = replace(source._settings, approval=asked)

    async def _build(self, body: bodies.NewSession, owner: str, session_id: str) -> JudgedSession:
        run = await self._governor.open(replace(OVER_HTTP, framework=body.program))
        terms = Terms(
            id=session_id,
            owner=owner,
            program=body.program,
            requests=body.requests,
            lease=body.lease,
            deadline=30.0,
            bundle="",
            folder="",
        )
        return JudgedSession(terms, run, ShownMessages(), lambda: self._lapse(session_id))


@asynccontextmanager
async def serve(governor: Governor) -> AsyncIterator[tuple[str, str]]:
    """A server over a governor: its address and its token."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = ListenSettings(port=listening.getsockname()[1])
        token = secrets.token_urlsafe(32)
        app = create_judge_app(settings, token)
        app.state.judge = host = StageHost(settings, governor)
        server = create_server(app)
        server.heeds_signals = False
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await server.is_up.wait()
        try:
            yield settings.address, token
        finally:
            await host.close()
            server.should_exit = True
            await serving


class Node:
    """The process in which agents run: lines in, lines out. All tests of a run share one."""

    def __init__(self) -> None:
        program = shutil.which("node") or "node"
        self._process = subprocess.Popen(
            [program, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(self._process.kill)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    async def do(self, job: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """What became of a job, and whether it was stopped: who is cancelled stops it first."""
        number = next(self._numbers)
        answer = self._waiting[number] = Future[dict[str, Any]]()
        self._send({"id": number, **job})
        waiting = asyncio.wrap_future(answer)
        is_stopped = False
        while not waiting.done():
            try:
                await asyncio.shield(waiting)
            except asyncio.CancelledError:
                is_stopped = True
                self._send({"id": number, "stop": True})
        return waiting.result(), is_stopped

    def _send(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            self._waiting.pop(answer["id"]).set_result(answer)
        for one in self._waiting.values():
            one.set_exception(RuntimeError("the Node process ended"))


@cache
def start_node() -> Node:
    """The process of this run of the tests."""
    return Node()


def read_calls(told: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What ran."""
    return [(name, arguments) for name, arguments in told["calls"]]


class NodeDriver(Driver):
    """Agents of one kind in a Node process."""

    coverage: ClassVar[Coverage] = OVER_HTTP
    kind: ClassVar[str]

    def __init__(self) -> None:
        self._servers: dict[Governor, tuple[str, str]] = {}
        self._users = 0
        self._open = contextlib.AsyncExitStack()
        self._opening = asyncio.Lock()

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        return await self.work(hooks, script, prompt)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        return await self.work(hooks, script, prompt, helper=_describe(helper))

    async def work(
        self,
        hooks: Governor,
        script: list[Step],
        prompt: str,
        how: str = "run",
        helper: list[Any] | None = None,
        mcp: list[str] | None = None,
    ) -> Ran:
        async with self._serving(hooks) as (url, token):
            job: dict[str, Any] = {
                "kind": self.kind,
                "how": how,
                "url": url,
                "token": token,
                "prompt": prompt,
            }
            job |= {"script": _describe(script), "helper": helper, "mcp": mcp}
            answer, is_stopped = await start_node().do(job)
        ran = self.keep(answer["ran"])
        if is_stopped:
            raise asyncio.CancelledError
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return ran

    async def work_with_mcp(self, hooks: Governor, script: list[Step], prompt: str) -> Ran:
        """With the tools of an MCP server, which records what it was called for."""
        calls: list[tuple[str, dict[str, Any]]] = []
        with record_calls(calls) as command:
            ran = await self.work(hooks, script, prompt, mcp=command)
        ran.calls += calls
        return ran

    @abstractmethod
    def keep(self, told: dict[str, Any]) -> Ran:
        """What happened, made in the module of the driver, where a test can see it."""

    @asynccontextmanager
    async def _serving(self, hooks: Governor) -> AsyncIterator[tuple[str, str]]:
        """One server for all runs at once; who is last stops it."""
        self._users += 1
        try:
            async with self._opening:
                if hooks not in self._servers:
                    self._servers[hooks] = await self._open.enter_async_context(serve(hooks))
            yield self._servers[hooks]
        finally:
            self._users -= 1
            if not self._users:
                opened, self._open = self._open, contextlib.AsyncExitStack()
                self._servers.clear()
                await opened.aclose()


def _describe(script: list[Step]) -> list[Any]:
    return [
        step
        if isinstance(step, str)
        else [{"id": one.id, "name": one.name, "input": one.arguments} for one in step]
        for step in script
    ]


def need_build(name: str) -> None:
    """ImportError unless `make typescript` asks for this driver: it takes Node and a build."""
    if os.environ.get("AMPLIFIER_ADAPTER", "").replace("-", "_") != name:
        raise ImportError("runs with make typescript", name="node")
