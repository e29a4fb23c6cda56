"""A client that speaks to the application without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from amplifier_hooks.guards.mcp.frames import Frame, answer, read_frames
from amplifier_hooks.mcp.gateway.channel import Channel
from amplifier_hooks.mcp.gateway.http.app import GatewayApp, listen
from amplifier_hooks.mcp.gateway.http.clients import Hub, Serve
from amplifier_hooks.mcp.gateway.http.guard import GatewayGuard, ListenSettings, make_door
from amplifier_hooks.mcp.gateway.http.wire_format import EventReader

BOTH = "application/json, text/event-stream"
MODERN = {"mcp-protocol-version": "2026-07-28"}


class Call:
    """One HTTP request, and what has come back for it."""

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        method: str,
        body: bytes,
        headers: Mapping[str, str],
        path: str = "/mcp",
    ) -> None:
        given = {"host": "127.0.0.1:80", "content-type": "application/json", "accept": BOTH}
        given |= headers
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
        self.status = 0
        self.headers: dict[str, str] = {}
        self._reader = EventReader()
        self._body = b""
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._inbox.put_nowait({"type": "http.request", "body": body})
        scope = {"type": "http", "method": method, "path": path, "headers": encoded}
        self._task = asyncio.ensure_future(app(scope, self._inbox.get, self._send))

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {key.decode(): value.decode() for key, value in message["headers"]}
            return
        self._body += message["body"]
        for event in self._reader.feed(message["body"]):
            self._events.put_nowait(json.loads(event.data))
        if not message.get("more_body"):
            self._events.put_nowait(None)

    async def end(self) -> Any:
        """The whole answer: its JSON, or None if it is empty or a stream."""
        async with asyncio.timeout(30):
            await self._task
        is_json = self.headers.get("content-type") == "application/json"
        return json.loads(self._body) if is_json and self._body else None

    async def take(self) -> dict[str, Any] | None:
        """The next message of a stream; None at its end."""
        async with asyncio.timeout(30):
            return await self._events.get()

    async def leave(self) -> None:
        """Close the connection."""
        self._inbox.put_nowait({"type": "http.disconnect"})
        async with asyncio.timeout(30):
            await self._task


class Relay:
    """Stands for the relay and its server: answers what a test tells it to."""

    def __init__(self) -> None:
        self.clients: list[Channel] = []
        self.headers: list[dict[str, str]] = []
        self.arrived: asyncio.Queue[tuple[Channel, Frame]] = asyncio.Queue()
        self.left: asyncio.Queue[Channel] = asyncio.Queue()
        self.answers_at_once = True
        self.failure: Exception | None = None

    async def serve(self, client: Channel, headers: Mapping[str, str]) -> None:
        """Until the client goes."""
        self.clients.append(client)
        self.headers.append(dict(headers))
        if self.failure is not None:
            raise self.failure
        while (raw := await client.receive()) is not None:
            for frame in read_frames(raw):
                self.arrived.put_nowait((client, frame))
                if self.answers_at_once and frame.is_request:
                    await client.send(answer(frame.message["id"], {"asked": frame.method}))
        self.left.put_nowait(client)

    async def take(self) -> tuple[Channel, Frame]:
        """What has arrived next."""
        async with asyncio.timeout(30):
            return await self.arrived.get()


class World:
    """An application with a relay of the test behind it."""

    def __init__(self, settings: ListenSettings) -> None:
        self.relay = Relay()
        self.hub = Hub(settings, self.relay.serve)
        self.app = GatewayGuard(GatewayApp(self.hub), make_door(replace(settings, port=80)))

    def post(self, message: Any, **headers: str) -> Call:
        """Send messages."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.call("POST", body, **headers)

    def call(self, method: str, body: bytes = b"", **headers: str) -> Call:
        """Any request; headers with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Call(self.app, method, body, named)

    async def begin(self, **headers: str) -> str:
        """Start a session, and return its id."""
        call = self.post(ask("initialize", "start"), **headers)
        assert (await call.end())["result"] == {"asked": "initialize"}
        assert (await self.relay.take())[1].method == "initialize"
        return call.headers["mcp-session-id"]


@asynccontextmanager
async def open_world(**settings: Any) -> AsyncIterator[World]:
    """Such an application, for as long as the block."""
    world = World(ListenSettings(**settings))
    try:
        yield world
    finally:
        await world.hub.close()


@asynccontextmanager
async def run_listening(serve: Serve, **settings: Any) -> AsyncIterator[int]:
    """The port at which clients connect, for as long as the block."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(listen(ListenSettings(**settings), serve, ready=ready.set_result))
    try:
        async with asyncio.timeout(30):
            await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
        yield int(ready.result().rpartition(":")[2].removesuffix("/mcp"))
    finally:
        running.cancel()
        await asyncio.wait({running})


def ask(method: str, id: Any = 1, **params: Any) -> dict[str, Any]:
    """A request of a session."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def ask_modern(method: str, id: Any = 1, **params: Any) -> dict[str, Any]:
    """A request that stands by itself."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", **params.pop("meta", {})}
    return ask(method, id, **params, _meta=meta)


def mirror(message: dict[str, Any], **more: str) -> dict[str, str]:
    """The headers that must come with it, written by hand."""
    name = message["params"].get("name")
    return {
        "mcp_protocol_version": "2026-07-28",
        "mcp_method": message["method"],
        **({"mcp_name": name} if name else {}),
        **more,
    }
