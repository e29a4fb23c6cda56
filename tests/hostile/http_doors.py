"""The listeners that speak HTTP, each behind a real socket, with a request that it would serve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.coding_agents.daemon.folder import choose_port
from amplifier_hooks.coding_agents.daemon.server import Daemon
from amplifier_hooks.http_guard.server import bind
from amplifier_hooks.mcp.server.server import build_app, create_server
from amplifier_hooks.mcp.server.toolbox import Settings, Toolbox
from amplifier_hooks.mcp.server.trails import choose_scope
from tests.hooks.mcp.gateway.http.asgi import Relay, run_listening
from tests.hooks.server.world import run_server
from tests.support.guest_resident import PlayedJudge
from tests.support.guests import make_guest_folder
from tests.support.waiting import wait_until

TOKEN = "a-token-of-this-listener"
START = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@dataclass
class Door:
    """One listener; `count` says how often something has happened behind it."""

    name: str
    port: int
    path: str
    token: str
    body: bytes
    count: Callable[[], int]

    @property
    def host(self) -> str:
        """The right value."""
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def open_web(folder: Path) -> AsyncIterator[Door]:
    """The page and its API: a request makes a code."""
    async with await open_store(folder / "store.db") as store, run_server(store) as world:
        token = await world.token("ann", "read", "admin")
        made = 0
        add = store.access.add_code

        async def add_counted(*given: Any, **named: Any) -> str:
            nonlocal made
            made += 1
            return await add(*given, **named)

        object.__setattr__(store.access, "add_code", add_counted)
        body = json.dumps({"name": "bob", "scopes": ["read"], "seconds": 60}).encode()
        yield Door("web", world.settings.port, "/api/v1/codes", token, body, lambda: made)


@asynccontextmanager
async def open_gateway(folder: Path) -> AsyncIterator[Door]:
    """The gateway: a request connects to a server."""
    relay = Relay()
    async with run_listening(relay.serve, token=TOKEN) as port:
        body = json.dumps(START).encode()
        yield Door("gateway", port, "/mcp", TOKEN, body, lambda: len(relay.clients))


@asynccontextmanager
async def open_resident(folder: Path) -> AsyncIterator[Door]:
    """The process behind coding agents: a request is judged."""
    judge = PlayedJudge()
    port = choose_port()
    ready = asyncio.Event()
    with make_guest_folder() as place:
        resident = Daemon(place, judge, http=port)
        running = asyncio.create_task(resident.run(ready.set))
        await asyncio.wait_for(ready.wait(), 50)
        try:
            path = "/claude/PreToolUse"
            yield Door(
                "resident", port.port, path, port.token, b'{"a": 1}', lambda: len(judge.asked)
            )
        finally:
            resident.end("the test is over")
            await asyncio.wait_for(running, 50)


@asynccontextmanager
async def open_mcp_server(folder: Path) -> AsyncIterator[Door]:
    """Our MCP server: a request starts a session of the SDK."""
    toolbox = Toolbox(Settings(folder, choose_scope(folder, everything=False), None, None, ()))
    taken = bind("127.0.0.1", 0)
    port = taken.getsockname()[1]
    seen = 0
    guard = build_app(toolbox, "127.0.0.1", port, TOKEN)
    inner = guard.app

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal seen
        seen += scope["type"] == "http"
        await inner(scope, receive, send)

    guard.app = app
    server = create_server(guard)
    async with toolbox:
        running = asyncio.create_task(server.serve(sockets=[taken]))
        await wait_until(lambda: server.started)
        yield Door("mcp_server", port, "/mcp", TOKEN, json.dumps(START).encode(), lambda: seen)
        server.should_exit = True
        await asyncio.wait_for(running, 50)


OPENERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Door]]] = {
    "web": open_web,
    "gateway": open_gateway,
    "resident": open_resident,
    "mcp_server": open_mcp_server,
}
