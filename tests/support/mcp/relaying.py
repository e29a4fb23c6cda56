"""A relay in this process: the test is the client and the server, and sees what hooks see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.guards.mcp.definitions import DefinitionGuard, KnownTools
from amplifier_hooks.guards.mcp.frames import Frame
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.judging import GatewaySession, Judge, open_gateway_session
from amplifier_hooks.mcp.gateway.relay import Relay

SERVER = "tiny"
LONGEST = 30.0


class Line:
    """One end of the relay, in memory: what the test sends, and the bytes that it is handed."""

    def __init__(self) -> None:
        self._incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.written: list[bytes] = []
        self._came = asyncio.Condition()
        self._closed = False

    # As the relay uses it

    async def receive(self) -> bytes | None:
        """The next message of the test."""
        return await self._incoming.get()

    async def send(self, frame: Frame) -> None:
        """Hand a message to the test."""
        if self._closed:
            raise ChannelError("nobody reads there any more")
        async with self._came:
            self.written.append(frame.raw)
            self._came.notify_all()

    async def close(self) -> None:
        """Take no more."""
        self._closed = True

    # As the test uses it

    def put(self, line: bytes | dict[str, Any] | None) -> None:
        """Send a message; None when no more will come."""
        self._incoming.put_nowait(json.dumps(line).encode() if isinstance(line, dict) else line)

    @property
    def is_read(self) -> bool:
        """Whether the relay has taken everything."""
        return self._incoming.empty()

    def read(self) -> list[dict[str, Any]]:
        """What the test was handed, as messages."""
        return [json.loads(line) for line in self.written]

    async def wait_for(self, count: int) -> list[dict[str, Any]]:
        """The same, once there are so many."""
        async with asyncio.timeout(LONGEST), self._came:
            await self._came.wait_for(lambda: len(self.written) >= count)
        return self.read()


class Stage:
    """A relay between two lines, with the session that judges."""

    def __init__(self, session: GatewaySession, guard: DefinitionGuard) -> None:
        self.session = session
        self.client, self.server = Line(), Line()
        self.said: list[str] = []
        judge = Judge(session, SERVER, guard)
        self._relay = Relay(self.client, self.server, judge, self.said.append)
        self.task = asyncio.create_task(self._relay.run())

    @property
    def is_idle(self) -> bool:
        """Whether everything that came was dealt with, or the relay has ended."""
        at_rest = self.client.is_read and self.server.is_read and not self._relay._tasks
        return self.task.done() or at_rest

    async def close(self) -> None:
        """End the relay; what it raised is raised."""
        if self.task.done():
            self.task.result()
        await cancel_and_wait(self.task)


@asynccontextmanager
async def open_stages(folder: Path) -> AsyncIterator[Stages]:
    """Relays with the hooks of a folder's bundle, one session for all of them."""
    said: list[str] = []
    session = await open_gateway_session(folder, "", said.append)
    try:
        yield Stages(session, folder)
    finally:
        await session.end("complete")


class Stages:
    """Opens one relay after another."""

    def __init__(self, session: GatewaySession, folder: Path) -> None:
        self.session = session
        known = KnownTools(folder / "known")
        self._guard = DefinitionGuard(
            session.coordinator, SERVER, [SERVER], new_tools="allow", known=known
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Stage]:
        """A relay, until the block ends."""
        stage = Stage(self.session, self._guard)
        try:
            yield stage
        finally:
            await stage.close()
