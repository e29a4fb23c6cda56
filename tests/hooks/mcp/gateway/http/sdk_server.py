"""A server of the SDK, of both eras. Importing it takes long, so tests do that where they run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer


async def add(a: int, b: int, ctx: Context[Any, Any]) -> int:
    """Add two numbers, and say when it is half done."""
    await ctx.report_progress(1, 2)
    return a + b


@contextlib.asynccontextmanager
async def run_sdk_server() -> AsyncIterator[str]:
    """Its address, for as long as the block."""
    server = MCPServer("tiny")
    server.tool()(add)
    config = uvicorn.Config(server.streamable_http_app(), log_config=None, port=0)
    running = uvicorn.Server(config)
    running.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    task = asyncio.create_task(running.serve())
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await task
