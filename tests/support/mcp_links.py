"""Connections to MCP servers that exist in memory only, for tests that need no SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from amplifier_hooks.agent.tools.mcp.client import (
    JsonObject,
    NotificationHandlers,
    OnProgress,
    ServerError,
)
from amplifier_hooks.agent.tools.mcp.connection import Connection
from amplifier_hooks.agent.tools.mcp.launch import ServerConfig

ADD: JsonObject = {
    "name": "add",
    "description": "Adds.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
}


def make_answer(text: str) -> JsonObject:
    """The result of a tool that says this."""
    return {"content": [{"type": "text", "text": text}]}


class FakeLink:
    """One life of a server."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server
        self.ended = asyncio.Event()
        self.reason = ""

    def offers(self, kind: str) -> bool:
        return kind == "tools" or bool(self._server.lists.get(f"{kind}/list"))

    async def list(self, method: str) -> list[JsonObject]:
        found = self._server.lists.get(method, [])
        self._server.listed += method == "tools/list"
        if isinstance(found, Exception):
            raise found
        if callable(found):
            await found()
        return [dict(one) for one in found]

    async def call(
        self, tool: str, arguments: JsonObject, on_progress: OnProgress | None = None
    ) -> JsonObject:
        self._server.calls.append((tool, arguments))
        work = asyncio.ensure_future(self._server.answer(tool, arguments, on_progress))
        end = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait((work, end), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ServerError("Connection closed", lost=True)
            return work.result()
        except asyncio.CancelledError:
            self._server.cancelled.append(tool)
            raise
        finally:
            work.cancel()
            end.cancel()

    async def read(self, uri: str) -> JsonObject:
        return {"contents": [{"uri": uri, "text": f"content of {uri}"}]}

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> JsonObject:
        text = f"{name} {arguments}"
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


class FakeServer:
    """A server that tests can have say, list and suffer anything."""

    def __init__(self, *tools: JsonObject) -> None:
        self.lists: dict[str, Any] = {"tools/list": list(tools or (ADD,))}
        self.calls: list[tuple[str, JsonObject]] = []
        self.cancelled: list[str] = []
        self.starts = 0
        self.listed = 0
        self.failures: list[Exception] = []
        """What the next starts raise."""
        self.client: FakeLink | None = None
        self.handlers: NotificationHandlers | None = None
        self.say: Callable[[JsonObject], Any] = lambda input: make_answer(str(sum(input.values())))

    async def answer(
        self, tool: str, input: JsonObject, on_progress: OnProgress | None
    ) -> JsonObject:
        """The result of a call."""
        found = self.say(input)
        if asyncio.iscoroutine(found):
            found = await found
        if isinstance(found, Exception):
            raise found
        return dict(found)

    @asynccontextmanager
    async def open(self, handlers: NotificationHandlers) -> AsyncIterator[FakeLink]:
        """Start it."""
        self.starts += 1
        if self.failures:
            raise self.failures.pop(0)
        self.handlers, self.client = handlers, FakeLink(self)
        yield self.client

    def die(self, reason: str = "killed") -> None:
        """End without a word to anybody."""
        assert self.client is not None
        self.client.reason = reason
        self.client.ended.set()

    def connect(self, name: str = "calc", **options: Any) -> Connection:
        """A connection to it; restarts are quick."""
        restart = {"delay": 0.001, "max_delay": 0.002, **options.pop("restart", {})}
        config = ServerConfig(command="calc", restart=restart, **options)  # type: ignore[arg-type]
        return Connection(name, config, self.open)
