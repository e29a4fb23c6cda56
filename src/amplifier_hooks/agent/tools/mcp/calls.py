"""One request to a server for a session: its time limit, its progress, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

from amplifier_core.interfaces import Host
from amplifier_core.message_models import ImageBlock
from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.live_output import follow_output
from amplifier_hooks.agent.tools.mcp.client import Client, JsonObject, OnProgress, ServerError
from amplifier_hooks.agent.tools.mcp.connection import Connection, Unavailable
from amplifier_hooks.guards.mcp.results import hide_bulk, read_call
from amplifier_hooks.machine.pipes import OnOutput

SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models take."""

_LARGEST = 7_000_000
"""Characters of base64: models take no larger images."""
_MOST = 20


def read_tool_answer(result: JsonObject) -> ToolResult:
    """What a tool has answered; sounds, files and odd images are described in its text."""
    return _add_images(read_call(result), result.get("content"))


def read_parts(parts: Any) -> ToolResult:
    """What a resource or a prompt consists of."""
    return _add_images(ToolResult(output=hide_bulk(parts)), parts)


def _add_images(result: ToolResult, parts: Any) -> ToolResult:
    images = list(_find_images(parts))[:_MOST]
    if not images or not result.success:
        return result
    return result.model_copy(update={"content": images})


def _find_images(value: Any) -> Iterator[ImageBlock]:
    if isinstance(value, list):
        for one in value:
            yield from _find_images(one)
    elif isinstance(value, dict):
        data = value.get("data", value.get("blob"))
        if value.get("mimeType") in SHOWN and isinstance(data, str) and len(data) <= _LARGEST:
            yield _make_image(str(value["mimeType"]), data)
        else:
            for name in ("resource", "content"):
                yield from _find_images(value.get(name))


def _make_image(kind: str, data: str) -> ImageBlock:
    return ImageBlock(source={"type": "base64", "media_type": kind, "data": data})


_INTERVAL = 0.1
"""Seconds between two lines of progress."""

Request = Callable[[Client, OnProgress], Awaitable[JsonObject]]


class Caller:
    """Sends requests of one session to one server."""

    def __init__(self, host: Host, connection: Connection, timeout: float) -> None:
        self._host = host
        self._connection = connection
        self._timeout = timeout

    async def ask(
        self, name: str, about: str, request: Request, read: Callable[[JsonObject], ToolResult]
    ) -> ToolResult:
        """Make a request; whatever goes wrong is a result that says so, and nothing is repeated.

        Cancelling this cancels the request at the server.
        """
        server = self._connection.name
        try:
            client = await self._connection.acquire()
        except Unavailable as reason:
            return self._fail(f"The MCP server {server!r} is not available: {reason}")
        limit = self._timeout
        try:
            with follow_output(self._host, name, about) as show:
                async with asyncio.timeout(limit) as deadline:
                    return read(await request(client, make_progress(show, deadline, limit)))
        except TimeoutError:
            return self._fail(
                f"The MCP server {server!r} did not answer within {limit:g} seconds, and the call "
                "was cancelled there. It may have had effects; look before you call it again."
            )
        except ServerError as error:
            return self._explain(error)

    def _explain(self, error: ServerError) -> ToolResult:
        server = self._connection.name
        if not error.lost:
            return self._fail(f"The MCP server {server!r} refused: {error}")
        return self._fail(
            f"The MCP server {server!r} ended during this call, so there is no result. The call "
            "may have had effects and is not repeated by itself; look before you call it again."
        )

    def _fail(self, sentence: str) -> ToolResult:
        return ToolResult.failed(self._connection.hide(sentence))


class Deadline(Protocol):
    """The end of a call's time, which can be moved."""

    def expired(self) -> bool: ...
    def reschedule(self, when: float | None) -> None: ...


def make_progress(show: OnOutput | None, deadline: Deadline, limit: float) -> OnProgress:
    """Shows progress, and gives a call that goes on its time anew."""
    clock = asyncio.get_running_loop().time
    last = 0.0

    async def take(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        now = clock()
        if not deadline.expired():
            deadline.reschedule(now + limit)
        is_end = total is not None and progress >= total
        if show is not None and (is_end or now - last >= _INTERVAL):
            last = now
            show("stdout", f"{_write(progress, total, message)}\n")

    return take


def _write(progress: float, total: float | None, message: str | None) -> str:
    count = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
    return f"{count} {message}" if message else count


def describe_input(input: dict[str, Any]) -> str:
    """What a call is about in a line, for whoever looks on."""
    return ", ".join(f"{name}={value!r:.60}" for name, value in input.items())[:200]
