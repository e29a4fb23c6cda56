"""A living connection to one server, through the SDK: plain values in, plain values out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from amplifier_core.utils import describe_error

logger = logging.getLogger(__name__)

Wire = dict[str, Any]
OnProgress = Callable[[float, float | None, str | None], Awaitable[None]]

_MOST_PAGES = 1_000
_PATIENCE = 10.0
_LOST = -32000
"""The code of the SDK's error for a connection that has ended."""


class LinkError(Exception):
    """A server has refused a request, or is gone: then nobody knows what became of it."""

    def __init__(self, reason: str, *, lost: bool = False) -> None:
        super().__init__(reason)
        self.lost = lost


class Link(Protocol):
    """What the rest of this module knows of a connection."""

    @property
    def ended(self) -> asyncio.Event: ...
    @property
    def reason(self) -> str:
        """Why it has ended, as far as that is known."""
        return ""

    def offers(self, kind: str) -> bool: ...
    async def list(self, method: str) -> list[Wire]: ...
    async def call(
        self, tool: str, arguments: Wire, on_progress: OnProgress | None = None
    ) -> Wire: ...
    async def read(self, uri: str) -> Wire: ...
    async def get_prompt(self, name: str, arguments: dict[str, str]) -> Wire: ...


@dataclass(frozen=True, slots=True)
class News:
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


class SdkLink:
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

    async def list(self, method: str) -> list[Wire]:
        """All pages of a list."""
        name, field = _LISTS[method]
        found: list[Wire] = []
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
        raise LinkError(f"{method} has more than {_MOST_PAGES} pages")

    async def call(self, tool: str, arguments: Wire, on_progress: OnProgress | None = None) -> Wire:
        """The result of a tool."""
        asked = self._client.call_tool(tool, arguments, progress_callback=on_progress)
        return _dump(await self._ask(asked))

    async def read(self, uri: str) -> Wire:
        """A resource."""
        return _dump(await self._ask(self._client.read_resource(uri, cache_mode="refresh")))

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> Wire:
        """A prompt, filled in."""
        return _dump(await self._ask(self._client.get_prompt(name, arguments)))

    async def _ask(self, request: Awaitable[Any]) -> Any:
        from mcp import MCPError

        try:
            return await request
        except MCPError as error:
            lost = self.ended.is_set() or error.error.code == _LOST
            await self._look_after(lost)
            raise LinkError(error.error.message, lost=lost) from error
        except Exception as error:
            lost = self.ended.is_set() or isinstance(error, OSError)
            await self._look_after(lost)
            raise LinkError(describe_error(error), lost=lost) from error

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


def _dump(value: Any) -> Wire:
    dumped: Wire = value.model_dump(by_alias=True, exclude_none=True, mode="json")
    return dumped


@asynccontextmanager
async def open_link(
    transport: Any, ended: asyncio.Event, news: News, explain: Callable[[], str] | None = None
) -> AsyncIterator[SdkLink]:
    """Connect over a transport of the SDK's, in whichever era of the protocol the server is."""
    from mcp import Client

    async with AsyncExitStack() as stack:
        client = Client(
            transport,
            logging_callback=_make_log_callback(news),
            log_level="warning",  # newer servers say nothing unless they are asked to
            message_handler=_make_handler(news),
        )
        await stack.enter_async_context(client)
        link = SdkLink(client, ended, explain)
        listening = asyncio.create_task(_listen(client))
        stack.push_async_callback(_end, listening)
        yield link


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


def _make_log_callback(news: News) -> Any:
    async def take(params: Any) -> None:
        news.on_log(str(params.level), str(params.data))

    return take


def _make_handler(news: News) -> Any:
    async def take(message: Any) -> None:
        if isinstance(message, Exception):
            news.on_log("warning", f"sent something that is no message: {describe_error(message)}")
        elif getattr(message, "method", "") in _CHANGES:
            news.on_changed()

    return take
