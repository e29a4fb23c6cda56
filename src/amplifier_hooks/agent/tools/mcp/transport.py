"""The transports of the SDK, opened for one server, and watched for their end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from amplifier_hooks.agent.tools.mcp.launch import Launch
from amplifier_hooks.agent.tools.mcp.stderr_tail import StderrTail

_CONNECT = 30.0
_READ = 3600.0
"""Seconds between two bytes of an answer: how long a call may take is not decided here."""


@asynccontextmanager
async def open_pipes(
    launch: Launch, stderr: StderrTail, ended: asyncio.Event
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a process and talk to it over its standard input and output."""
    from mcp import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=launch.command,
        args=list(launch.args),
        env=dict(launch.env),
        cwd=launch.cwd,
        # One odd byte is no reason to lose the connection: the message with it is refused.
        encoding_error_handler="replace",
    )
    async with (
        stdio_client(parameters, errlog=stderr.writer) as (read, write),
        _watch(read, ended) as watched,
    ):
        yield watched, write


@asynccontextmanager
async def open_http(
    url: str, headers: Mapping[str, str], ended: asyncio.Event
) -> AsyncIterator[tuple[Any, Any]]:
    """Talk to a server by streamable HTTP, with these headers and no others of ours."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(_CONNECT, read=_READ)
    # trust_env would also take names and passwords from ~/.netrc.
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout, trust_env=False) as http,
        streamable_http_client(url, http_client=http) as (read, write),
        _watch(read, ended) as watched,
    ):
        yield watched, write


@asynccontextmanager
async def _watch(read: Any, ended: asyncio.Event) -> AsyncIterator[Any]:
    """The same stream; `ended` is set when nothing comes any more, also if nobody waits."""
    import anyio

    send, receive = anyio.create_memory_object_stream[Any](0)

    async def forward() -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with send:
                async for message in read:
                    await send.send(message)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(forward)
        try:
            yield receive
        finally:
            group.cancel_scope.cancel()
