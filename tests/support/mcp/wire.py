"""A program that is spoken to in lines of JSON-RPC, as MCP clients speak to servers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

from amplifier_core.utils import cancel_and_wait
from tests.support.waiting import wait_until

Message = dict[str, Any]
LONGEST_LINE = 256 * 1024 * 1024
LONGEST_WAIT = 60.0


class Wire:
    """The client's end: requests with their answers, and everything else that came, in order."""

    def __init__(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._source, self._sink = source, sink
        self.received: list[Message] = []
        self.lines: list[bytes] = []
        """What came, as it came."""
        self.torn = b""
        """What came without a line's end."""
        self.answer_request: Callable[[Message], Message | None] = lambda message: None
        """What the client says when the server asks it: a result or an error; None says nothing."""
        self._ids = count(1)
        self._open: dict[str, asyncio.Future[Message]] = {}
        self._reading = asyncio.create_task(self._read())

    # Talking

    def write(self, line: bytes) -> None:
        """A line as it is."""
        self._sink.write(line)

    def send(self, message: Message) -> None:
        """A message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(
        self, method: str, params: Message | None = None, id: Any = None
    ) -> asyncio.Future[Message]:
        """Send a request; its answer will be in the future."""
        used = next(self._ids) if id is None else id
        future = asyncio.get_running_loop().create_future()
        self._open[json.dumps(used)] = future
        self.send({"id": used, "method": method, "params": params or {}})
        return future

    def call(self, tool: str, id: Any = None, **arguments: Any) -> asyncio.Future[Message]:
        """Send a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, id)

    async def initialize(self) -> Message:
        """Shake hands as clients did before 2026."""
        params: Message = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}}
        params["clientInfo"] = {"name": "wire", "version": "1"}
        answer = await wait_for_answer(self.ask("initialize", params))
        self.send({"method": "notifications/initialized"})
        return answer

    # What came

    def count_answers(self) -> Counter[str]:
        """How often each id was answered."""
        answers = [one for one in self.received if "method" not in one]
        return Counter(json.dumps(one.get("id")) for one in answers)

    def list_told(self, method: str) -> list[Message]:
        """The parameters of every notification and request of a kind."""
        return [one.get("params", {}) for one in self.received if one.get("method") == method]

    # The end

    def close(self) -> None:
        """Close the line as a client does that has had enough."""
        self._sink.close()

    async def drain(self) -> None:
        """Read everything, to the end of the line."""
        await asyncio.wait_for(self._reading, LONGEST_WAIT)

    async def _read(self) -> None:
        async for line in self._source:
            if not line.endswith(b"\n"):
                self.torn = line
                break
            self.lines.append(line)
            self._take(json.loads(line))
        for future in self._open.values():
            if not future.done():
                future.set_exception(EOFError("the line has ended"))
                future.exception()  # nobody has to wait for it

    def _take(self, message: Message) -> None:
        self.received.append(message)
        if "method" not in message:
            future = self._open.get(json.dumps(message.get("id")))
            if future is not None and not future.done():
                future.set_result(message)
        elif "id" in message and (reply := self.answer_request(message)) is not None:
            self.send({"id": message["id"], **reply})


class Program(Wire):
    """A program at the other end, in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin
        assert process.stdout
        super().__init__(process.stdout, process.stdin)
        self.process = process
        self._errors = bytearray()
        self._watching = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(
        cls, command: Sequence[object], *, cwd: Path | None = None, env: Mapping[str, str]
    ) -> Self:
        """Start a program in a group of its own."""
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        return cls(process)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """End it at once, with its whole group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        for task in (self._reading, self._watching):
            await cancel_and_wait(task)

    @property
    def errors(self) -> str:
        """What the program wrote on its other stream."""
        return self._errors.decode(errors="replace")

    async def leave(self) -> int:
        """Close the line; the program's exit code."""
        self.close()
        return await self.wait()

    async def wait(self) -> int:
        """The program's exit code, with everything read that it wrote."""
        code = await asyncio.wait_for(self.process.wait(), LONGEST_WAIT)
        await self.drain()
        return code

    async def _read_errors(self) -> None:
        assert self.process.stderr
        while more := await self.process.stderr.read(65536):
            self._errors += more


async def wait_for_answer(future: asyncio.Future[Message]) -> Message:
    """The answer, within a time that only a hanging program needs."""
    return await asyncio.wait_for(future, LONGEST_WAIT)


def read_text(answer: Message) -> str:
    """What a tool's result says."""
    return "\n".join(block.get("text", "") for block in answer["result"]["content"])


async def wait_for_end(process: int) -> None:
    """Wait until a process is gone."""

    def is_gone() -> bool:
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return True
        return stat.rpartition(")")[2].split()[0] in "ZX"

    await wait_until(is_gone)
