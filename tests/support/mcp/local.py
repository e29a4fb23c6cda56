"""The gateway in this process, between a line of the test and a server that it starts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.mcp.gateway.gateway import Settings, run_gateway
from amplifier_hooks.mcp.gateway.pipes import ClientPipes, ServerProcess
from tests.support.mcp.wire import LONGEST_LINE, LONGEST_WAIT, Wire
from tests.support.mcp.world import World


class LocalGateway(Wire):
    """A client's line to a gateway that runs here."""

    running: asyncio.Task[str]
    said: list[str]

    async def leave(self) -> str:
        """Close the line; who left first."""
        self.close()
        return await self.wait()

    async def wait(self) -> str:
        """Who left first, with everything read that came."""
        end = await asyncio.wait_for(asyncio.shield(self.running), LONGEST_WAIT)
        await self.drain()
        return end


@asynccontextmanager
async def open_gateway(
    world: World, command: Sequence[str] = (), name: str = "tiny"
) -> AsyncIterator[LocalGateway]:
    """A gateway before the small server, or another; hands are shaken."""
    words = list(command) or world.build_tiny_command()
    settings = Settings(name, words, world.project)

    async def connect() -> ServerProcess:
        return await ServerProcess.start(words, env=world.env)

    to_gateway, from_gateway = os.pipe(), os.pipe()
    wire = await _open_wire(from_gateway[0], to_gateway[1])
    wire.said = []
    client = await ClientPipes.open(
        os.fdopen(to_gateway[0], "rb"), os.fdopen(from_gateway[1], "wb")
    )
    wire.running = asyncio.create_task(run_gateway(client, connect, settings, wire.said.append))
    try:
        await wire.initialize()
        yield wire
    finally:
        wire.close()
        await asyncio.wait({wire.running}, timeout=LONGEST_WAIT)  # it ends by itself
        await cancel_and_wait(wire.running)
        await wire.drain()


async def _open_wire(source: int, sink: int) -> LocalGateway:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb")
    )
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(sink, "wb")
    )
    return LocalGateway(reader, asyncio.StreamWriter(transport, protocol, None, loop))
