"""The clients of a server: each has a session of ours."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth.provider import principal_components
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from amplifier_hooks.coverage import FASTMCP
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run

Key = Any
PROCESS = "process"
STREAMS = ("sse", "streamable-http")


@dataclass
class _Client:
    """One client, whose first calls may come at once."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    run: Run | None = None
    watch: AsyncGenerator[None, None] | None = None


class Clients:
    """Finds the session behind a request, or opens it.

    A client that has shaken hands is one as long as its connection. In the protocol of 2026-07-28
    there are no connections: a client is then the user who has signed in, or the only one there
    is, at the other end of standard input; anybody else is a new one with each request.
    """

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._users: dict[Key, _Client] = {}
        self._name = f"amplifier {id(self)}"

    @contextlib.asynccontextmanager
    async def find(self, context: Context | None) -> AsyncIterator[Run]:
        """The session for a request; SessionDenied if a hook refuses to open it."""
        connection, user = _find_connection(context), _find_user(context)
        if connection is not None:
            client = connection.state.setdefault(self._name, _Client())
            yield await self._open(client, lambda: self._watch_connection(client, connection))
        elif user is not None:
            client = self._users.setdefault(user, _Client())
            yield await self._open(client, lambda: self._watch_loop(user, client))
        else:
            run = await self._governor.open(FASTMCP)
            try:
                yield run
            finally:
                await run.end()

    async def _open(self, client: _Client, watch: Callable[[], Awaitable[None]]) -> Run:
        async with client.lock:
            if client.run is None or client.run.has_ended:
                await self._governor.end_idle()
                client.run = await self._governor.open(FASTMCP)
                await watch()
            return client.run

    async def _watch_connection(self, client: _Client, connection: Any) -> None:
        connection.exit_stack.push_async_callback(_end, client)

    async def _watch_loop(self, user: Key, client: _Client) -> None:
        # Nobody tells that the only client has gone, but a loop closes its generators at its end.
        client.watch = self._wait(user, client)
        await anext(client.watch)

    async def _wait(self, user: Key, client: _Client) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._users.pop(user, None)
            await _end(client)


async def _end(client: _Client) -> None:
    if client.run is not None:
        await client.run.end()


def _find_connection(context: Context | None) -> Any:
    """The connection of a client that has shaken hands; none for a request that stands alone."""
    if context is None:
        return None
    try:
        session = context.session
    except RuntimeError:
        return None
    connection = getattr(session, "_connection", None)
    version = getattr(connection, "protocol_version", None)
    return None if version in MODERN_PROTOCOL_VERSIONS else connection


def _find_user(context: Context | None) -> Key:
    """Who a client is that has not shaken hands; None if nobody knows."""
    if context is None or context.request_context is None:
        return None
    token = get_access_token()
    if token is not None:
        return ("user", *principal_components(token))
    return None if context.transport in STREAMS else PROCESS
