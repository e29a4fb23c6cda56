"""A server that says exactly what a test wants, in bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ScriptedServer:
    """Answers each connection with the next of its answers; the last one again and again."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.port = 0

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request, one answer."""
        self.requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
        writer.close()


def write_answer(status: int, body: str = "{}", *headers: str) -> bytes:
    """An answer of HTTP."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", body]).encode()


@asynccontextmanager
async def run_scripted(*answers: bytes) -> AsyncIterator[ScriptedServer]:
    """Such a server on a free port."""
    scripted = ScriptedServer(*answers)
    server = await asyncio.start_server(scripted.serve, "127.0.0.1", 0)
    scripted.port = server.sockets[0].getsockname()[1]
    async with server:
        yield scripted
