"""A client of the WebSocket, as a test reads it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.hooks.server.world import World

SECONDS = 30


class LiveClient:
    """Sends and receives messages as objects."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def say(self, **message: Any) -> None:
        """Send a message."""
        await self.connection.send(json.dumps(message))

    async def hear(self, kind: str) -> dict[str, Any]:
        """The next message of a kind; others are passed over."""
        async with asyncio.timeout(SECONDS):
            while True:
                message: dict[str, Any] = json.loads(await self.connection.recv())
                if message["type"] == kind:
                    return message

    async def wait_closed(self) -> int | None:
        """The code that the server closed with."""
        async with asyncio.timeout(SECONDS):
            await self.connection.wait_closed()
        return self.connection.close_code


@asynccontextmanager
async def connect_live(world: World, **headers: str) -> AsyncIterator[LiveClient]:
    """A connection with these headers, before its hello."""
    address = f"ws://127.0.0.1:{world.settings.port}/api/v1/live"
    connecting = connect(address, additional_headers=headers, proxy=None, max_size=None)
    async with connecting as connection:
        yield LiveClient(connection)


@asynccontextmanager
async def join_live(
    world: World, *scopes: str, name: str = "ann", **hello: Any
) -> AsyncIterator[LiveClient]:
    """A connection with a token, which has said hello and been welcomed."""
    token = await world.token(name, *(scopes or ("read", "decide")))
    async with connect_live(world, Authorization=f"Bearer {token}") as client:
        await client.say(type="hello", **hello)
        await client.hear("welcome")
        yield client
