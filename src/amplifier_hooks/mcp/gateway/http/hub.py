"""All clients that are connected, and the relay behind each."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from amplifier_core.errors import AmplifierError
from amplifier_core.utils import cancel_and_wait, describe_error
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import Channel
from amplifier_hooks.mcp.gateway.http.client_channels import ClientSession, SharedClients
from amplifier_hooks.mcp.gateway.http.guard import ListenSettings

logger = logging.getLogger(__name__)

Serve = Callable[[Channel, Mapping[str, str]], Awaitable[object]]
"""Relays between a client and a server of its own until one of them goes, with these headers of
the client for the server. What it raises is said to the client and in the log."""

LEAVING_SECONDS = 20.0


@dataclass(slots=True)
class Connection:
    """A client, or all clients without a session, and the relay behind it."""

    client: ClientSession | SharedClients
    authorization: str = field(repr=False)
    relaying: asyncio.Task[None]
    used: float
    """When somebody was here last."""


class Hub:
    """Finds the connection of a request, and makes it."""

    def __init__(
        self,
        settings: ListenSettings,
        serve: Serve,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._serve = serve
        self._sessions: dict[str, Connection] = {}
        self._shared: dict[str, Connection] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def begin_session(self, authorization: str) -> ClientSession:
        """A new client; Refusal if there are too many."""
        self._make_room()
        client = ClientSession(secrets.token_urlsafe(32))
        self._sessions[client.id] = self._connect(client, authorization)
        return client

    def find_session(self, id: str | None, authorization: str) -> ClientSession:
        """The client with this session; Refusal if there is none."""
        if id is None:
            raise Refusal(400, "Mcp-Session-Id is missing; the answer to initialize has it.")
        connection = self._sessions.get(id)
        if connection is None or connection.authorization != self._bind(authorization):
            raise Refusal(404, "There is no such session, or not any more; start a new one.")
        connection.used = self._clock()
        assert isinstance(connection.client, ClientSession)
        return connection.client

    def get_shared(self, authorization: str) -> SharedClients:
        """What stands for all clients without a session that have the same credential."""
        key = self._bind(authorization)
        connection = self._shared.get(key)
        if connection is None or (
            isinstance(connection.client, SharedClients) and connection.client.is_closed
        ):
            self._make_room()
            connection = self._shared[key] = self._connect(SharedClients(), authorization)
        connection.used = self._clock()
        assert isinstance(connection.client, SharedClients)
        return connection.client

    def end_session(self, client: ClientSession) -> None:
        """The client has left; its server ends meanwhile."""
        connection = self._sessions.pop(client.id, None)
        if connection is not None:
            self._end(connection, "the client has left")

    def end_idle(self) -> None:
        """Take leave of clients that nothing was heard of for long."""
        limit = self._clock() - self._settings.idle_seconds
        for table in (self._sessions, self._shared):
            idle = [key for key, one in table.items() if one.client.is_idle and one.used < limit]
            for key in idle:
                self._end(table.pop(key), "the client said nothing for a long time")

    async def close(self) -> None:
        """Take leave of all."""
        connections = [*self._sessions.values(), *self._shared.values()]
        self._sessions.clear()
        self._shared.clear()
        for one in connections:
            self._end(one, "the gateway ends")
        await asyncio.gather(*self._leaving)

    def _end(self, connection: Connection, why: str) -> None:
        connection.client.fail(why)
        task = asyncio.create_task(_wait_for_relay(connection.relaying))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _make_room(self) -> None:
        if len(self._sessions) + len(self._shared) >= self._settings.sessions:
            raise Refusal(503, f"{self._settings.sessions} clients are connected already.")

    def _bind(self, authorization: str) -> str:
        return authorization if self._settings.passes_authorization else ""

    def _connect(self, client: ClientSession | SharedClients, authorization: str) -> Connection:
        bound = self._bind(authorization)
        headers = {"Authorization": bound} if bound else {}
        relaying = asyncio.create_task(self._relay(client, headers))
        return Connection(client, bound, relaying, self._clock())

    async def _relay(
        self, client: ClientSession | SharedClients, headers: Mapping[str, str]
    ) -> None:
        why = "the server has gone"
        try:
            await self._serve(client, headers)
        except AmplifierError as error:
            why = str(error)
            logger.warning("a client cannot be served: %s", why)
        except Exception as error:
            why = f"the gateway failed: {describe_error(error)}"
            logger.exception("the relay for a client failed")
        finally:
            client.fail(why)
            self._forget(client)

    def _forget(self, client: ClientSession | SharedClients) -> None:
        for table in (self._sessions, self._shared):
            for key in [key for key, one in table.items() if one.client is client]:
                del table[key]


async def _wait_for_relay(relaying: asyncio.Task[None]) -> None:
    """Let the server end by itself, for some time."""
    await asyncio.wait({relaying}, timeout=LEAVING_SECONDS)
    await cancel_and_wait(relaying)
