"""A server that a test writes itself: it sees each request and answers with bytes."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.guards.mcp.frames import Frame, write_frame
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.server import HttpServer

META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
"""The head of a stream, which ends with the connection."""


@dataclass(frozen=True)
class Request:
    """What arrived, and where the answer goes."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    writer: asyncio.StreamWriter

    @property
    def message(self) -> dict[str, Any]:
        """The message in it."""
        found: dict[str, Any] = json.loads(self.body or b"{}")
        return found

    async def write(self, *parts: bytes) -> None:
        """Send bytes as they are."""
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def answer(self, status: int = 200, body: Any = None, **headers: str) -> None:
        """Send an answer with JSON, or with a text or bytes as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        given = {"Content-Type": "application/json", "Content-Length": str(len(raw))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in given.items())]
        await self.write("\r\n".join([*lines, "Connection: close", "", ""]).encode() + raw)

    async def reply(self, result: Any = None, **headers: str) -> None:
        """Answer the request with a result."""
        body = {"jsonrpc": "2.0", "id": self.message.get("id"), "result": result or {}}
        await self.answer(200, body, **headers)

    async def wait_for_end(self, reader: asyncio.StreamReader) -> None:
        """Until the client has gone."""
        with suppress(OSError):
            await reader.read()


Handler = Callable[[Request], Awaitable[None]]


class RawServer:
    """One that answers as its handler says, one request for each connection."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[Request] = []
        self.gone: asyncio.Queue[Request] = asyncio.Queue()
        self.url = ""
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            request = await _read_request(reader, writer)
            if request is None:
                return
            self.requests.append(request)
            watching = asyncio.create_task(self._watch(reader, request))
            await self.handler(request)
            watching.cancel()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _watch(self, reader: asyncio.StreamReader, request: Request) -> None:
        with suppress(OSError):
            await reader.read()
        self.gone.put_nowait(request)

    def stop(self) -> None:
        """End what is still being answered."""
        for task in self._tasks:
            task.cancel()


async def _read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body, writer)


@asynccontextmanager
async def run_raw(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawServer]:
    """Such a server on a free port."""
    raw = RawServer(handler)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0, ssl=tls)
    scheme, host = ("http", "127.0.0.1") if tls is None else ("https", "localhost")
    raw.url = f"{scheme}://{host}:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield raw
    finally:
        server.close()
        raw.stop()
        await asyncio.sleep(0)


@asynccontextmanager
async def run_channel(
    handler: Handler, headers: dict[str, str] | None = None
) -> AsyncIterator[tuple[HttpServer, RawServer]]:
    """A channel to such a server."""
    async with run_raw(handler) as raw:
        channel = HttpServer(raw.url, headers)
        try:
            yield channel, raw
        finally:
            await channel.close()


def ask(method: str, id: Any = 1, **params: Any) -> Frame:
    """A request of a session."""
    return write_frame({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def ask_modern(method: str, id: Any = 1, **params: Any) -> Frame:
    """A request that stands by itself."""
    return ask(method, id, **params, **META)


def tell(method: str, **params: Any) -> Frame:
    """A notification."""
    return write_frame({"jsonrpc": "2.0", "method": method, "params": params})


async def take(channel: HttpServer, seconds: float = 30.0) -> dict[str, Any]:
    """The next message that the channel has."""
    async with asyncio.timeout(seconds):
        raw = await channel.receive()
    assert raw is not None
    found: dict[str, Any] = json.loads(raw)
    return found


async def take_error(channel: HttpServer) -> str:
    """Why the request failed that was answered next."""
    return str((await take(channel))["error"]["message"])


async def take_note(channel: HttpServer) -> str:
    """What the channel says next that is no message."""
    try:
        found = await take(channel)
    except ChannelError as error:
        return str(error)
    raise AssertionError(found)


async def begin(channel: HttpServer) -> None:
    """Start a session."""
    await channel.send(ask("initialize", "start", protocolVersion="2025-11-25"))
    assert (await take(channel))["id"] == "start"
    await channel.send(tell("notifications/initialized"))
