"""A server that always gives one answer, right or wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.models import (
    Protocol,
    mount_provider,
)


@asynccontextmanager
async def answer_with(
    protocol: Protocol, whole: Any, events: list[Any], status: str = "200 OK"
) -> AsyncIterator[Any]:
    """A provider whose server always gives this answer, as it is."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        _, _, after = head.partition("content-length:")
        body = await reader.readexactly(int(after.split()[0]) if after else 0)
        streams = json.loads(body or b"{}").get("stream")
        kind = "text/event-stream" if streams else "application/json"
        content = _write_events(events) if streams else json.dumps(whole).encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n".encode())
        writer.write(f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode())
        writer.write(content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        settings = {"base_url": url, "api_key": "k", **protocol.options}
        async with mount_provider(protocol.module, settings) as provider:
            yield provider


def _write_events(events: list[Any]) -> bytes:
    text = "".join(f"event: {e.get('type', 'message')}\ndata: {json.dumps(e)}\n\n" for e in events)
    return f"{text}data: [DONE]\n\n".encode()
