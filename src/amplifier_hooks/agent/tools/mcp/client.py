"""A client of one server, through the SDK: over pipes or HTTP, plain values in and out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from amplifier_core.utils import describe_error
from amplifier_hooks.agent.tools.mcp.launch import Launch

logger = logging.getLogger(__name__)

JsonObject = dict[str, Any]
OnProgress = Callable[[float, float | None, str | None], Awaitable[None]]

_MOST_PAGES = 1_000
_PATIENCE = 10.0
_LOST = -32000
"""The code of the SDK's error for a connection that has ended."""


class ServerError(Exception):
    """A server has refused a request, or is gone: then nobody knows what became of it."""

    def __init__(self, reason: str, *, lost: bool = False) -> None:
        super().__init__(reason)
        self.lost = lost


class Client(Protocol):
    """What the rest of this module knows of a connection."""

    @property
    def ended(self) -> asyncio.Event: ...
    @property
    def reason(self) -> str:
        """Why it has ended, as far as that is known."""
        return ""

    def offers(self, kind: str) -> bool: ...
    async def list(self, method: str) -> list[JsonObject]: ...
    async def call(
        self, tool: str, arguments: JsonObject, on_progress: OnProgress | None = None
    ) -> JsonObject: ...
    async def read(self, uri: str) -> JsonObject: ...
    async def get_prompt(self, name: str, arguments: dict[str, str]) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class NotificationHandlers:
    """Who is told what a server says without being asked."""

    on_changed: Callable[[], None]
    """A list of what it offers has changed."""
    on_log: Callable[[str, str], None]
    """It has logged a text, at a level of the protocol."""


_CHANGES = frozenset(
    f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")
)
_LISTS = {
    "tools/list": ("list_tools", "tools"),
    "resources/list": ("list_resources", "resources"),
    "resources/templates/list": ("list_resource_templates", "resource_templates"),
    "prompts/list": ("list_prompts", "prompts"),
}


class SdkClient:
    """The SDK's client, entered."""

    def __init__(
        self, client: Any, ended: asyncio.Event, explain: Callable[[], str] | None = None
    ) -> None:
        self._client = client
        self._explain = explain
        """Says why the process ended; None if the server is no process of ours."""
        self.ended = ended

    @property
    def reason(self) -> str:
        return "the connection was lost" if self._explain is None else self._explain()

    def offers(self, kind: str) -> bool:
        """Whether the server has tools, resources or prompts."""
        return getattr(self._client.server_capabilities, kind, None) is not None

    async def list(self, method: str) -> list[JsonObject]:
        """All pages of a list."""
        name, field = _LISTS[method]
        found: list[JsonObject] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(_MOST_PAGES):
            ask = getattr(self._client, name)
            page = await self._ask(ask(cursor=cursor, cache_mode="refresh"))
            found += [_dump(one) for one in getattr(page, field)]
            cursor = page.next_cursor
            if not cursor or cursor in seen:
                return found
            seen.add(cursor)
        raise ServerError(f"{method} has more than {_MOST_PAGES} pages")

    async def call(
        self, tool: str, arguments: JsonObject, on_progress: OnProgress | None = None
    ) -> JsonObject:
        """The result of a tool."""
        asked = self._client.call_tool(tool, arguments, progress_callback=on_progress)
        return _dump(await self._ask(asked))

    async def read(self, uri: str) -> JsonObject:
        """A resource."""
        return _dump(await self._ask(self._client.read_resource(uri, cache_mode="refresh")))

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> JsonObject:
        """A prompt, filled in."""
        return _dump(await self._ask(self._client.get_prompt(name, arguments)))

    async def _ask(self, request: Awaitable[Any]) -> Any:
        from mcp import MCPError

        try:
            return await request
        except MCPError as error:
            lost = self.ended.is_set() or error.error.code == _LOST
            await self._look_after(lost)
            raise ServerError(error.error.message, lost=lost) from error
        except Exception as error:
            lost = self.ended.is_set() or isinstance(error, OSError)
            await self._look_after(lost)
            raise ServerError(describe_error(error), lost=lost) from error

    async def _look_after(self, lost: bool) -> None:
        """A server elsewhere that was started anew does not know us, and refuses everything."""
        try:
            if not lost and self._explain is None and self.offers("tools"):
                async with asyncio.timeout(_PATIENCE):
                    await self._client.list_tools(cache_mode="refresh")
        except Exception as error:  # noqa: BLE001 - whatever it is, a new connection is needed
            logger.debug("An MCP server does not know us any more: %s", describe_error(error))
            lost = True
        if lost:
            self.ended.set()


def _dump(value: Any) -> JsonObject:
    dumped: JsonObject = value.model_dump(by_alias=True, exclude_none=True, mode="json")
    return dumped


@asynccontextmanager
async def connect(
    transport: Any,
    ended: asyncio.Event,
    handlers: NotificationHandlers,
    explain: Callable[[], str] | None = None,
) -> AsyncIterator[SdkClient]:
    """Connect over a transport of the SDK's, in whichever era of the protocol the server is."""
    from mcp import Client

    async with AsyncExitStack() as stack:
        client = Client(
            transport,
            logging_callback=_make_log_callback(handlers),
            log_level="warning",  # newer servers say nothing unless they are asked to
            message_handler=_make_handler(handlers),
        )
        await stack.enter_async_context(client)
        listening = asyncio.create_task(_listen(client))
        stack.push_async_callback(_end, listening)
        yield SdkClient(client, ended, explain)


async def _listen(client: Any) -> None:
    """Have newer servers tell of changes; older ones do so by themselves."""
    try:
        async with client.listen(
            tools_list_changed=True, resources_list_changed=True, prompts_list_changed=True
        ) as changes:
            async for _ in changes:
                pass  # the handler of messages is told, too
    except Exception as error:  # noqa: BLE001 - without it, changes are seen at the next start
        logger.debug("An MCP server does not tell of changes: %s", describe_error(error))


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _make_log_callback(handlers: NotificationHandlers) -> Any:
    async def take(params: Any) -> None:
        handlers.on_log(str(params.level), str(params.data))

    return take


def _make_handler(handlers: NotificationHandlers) -> Any:
    async def take(message: Any) -> None:
        if isinstance(message, Exception):
            handlers.on_log(
                "warning", f"sent something that is no message: {describe_error(message)}"
            )
        elif getattr(message, "method", "") in _CHANGES:
            handlers.on_changed()

    return take


_KEPT = 4_000
_CHUNK = 65_536
_MOST_LINES = 5
_LONGEST_LINE = 300


class StderrTail:
    """One pipe; `writer` is the server's end of it."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._kept = b""
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self.writer: TextIO = os.fdopen(writer, "w")
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reader, self._use_server)

    def _use_server(self) -> None:
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._reader, _CHUNK)
            if not chunk:
                self._loop.remove_reader(self._reader)
            self._kept = (self._kept + chunk)[-_KEPT:]
            logger.debug("MCP server %s: %s", self._server, chunk[-_KEPT:].decode(errors="replace"))

    def describe(self) -> str:
        """The last lines, for a sentence about why the server ended; empty if it said nothing."""
        self._take_rest()
        lines = self._kept.decode(errors="replace").split("\n")
        told = [line.strip()[:_LONGEST_LINE] for line in lines if line.strip()][-_MOST_LINES:]
        return "\n".join(told)

    def _take_rest(self) -> None:
        """What has come since; at most a little, for a server may go on printing."""
        for _ in range(4):
            self._use_server()

    def close(self) -> None:
        """Give up both ends of the pipe."""
        self._loop.remove_reader(self._reader)
        self.writer.close()
        os.close(self._reader)


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
