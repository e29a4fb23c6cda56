"""Hooks in front of MCP servers that are written or proxied with FastMCP."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastmcp.exceptions import FastMCPError, PromptError, ResourceError, ToolError
from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult as ToolAnswer
from mcp import MCPError
from mcp.server.auth.provider import principal_components
from mcp_types import (
    INVALID_REQUEST,
    CallToolRequestParams,
    GetPromptRequestParams,
    InitializeRequest,
    InitializeResult,
    ReadResourceRequestParams,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic_core import to_jsonable_python

from amplifier_core.errors import SessionDenied
from amplifier_core.models import ToolResult
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import FASTMCP, Coverage
from amplifier_hooks.external.calling import RunEnded, Wanted
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.guards.mcp.results import repeats

Key = Any
PROCESS = "process"
STREAMS = ("sse", "streamable-http")


@dataclass
class _Client:
    """One client, whose first calls may come at once."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    run: Run | None = None
    watch: AsyncGenerator[None, None] | None = None


class Clients:
    """Finds the session behind a request, or opens it.

    A client that has shaken hands is one as long as its connection. In the protocol of 2026-07-28
    there are no connections: a client is then the user who has signed in, or the only one there
    is, at the other end of standard input; anybody else is a new one with each request.
    """

    def __init__(self, governor: Governor) -> None:
        self._governor = governor
        self._users: dict[Key, _Client] = {}
        self._name = f"amplifier {id(self)}"

    @contextlib.asynccontextmanager
    async def find(self, context: Context | None) -> AsyncIterator[Run]:
        """The session for a request; SessionDenied if a hook refuses to open it."""
        connection = _find_connection(context)
        user = _find_user(context)
        if connection is not None:
            client = connection.state.setdefault(self._name, _Client())
            yield await self._open(client, lambda: self._watch_connection(client, connection))
        elif user is not None:
            client = self._users.setdefault(user, _Client())
            yield await self._open(client, lambda: self._watch_loop(user, client))
        else:
            run = await self._governor.open(FASTMCP)
            try:
                yield run
            finally:
                await run.end()

    async def _open(self, client: _Client, watch: Callable[[], Awaitable[None]]) -> Run:
        async with client.lock:
            if client.run is None or client.run.has_ended:
                await self._governor.end_idle()
                client.run = await self._governor.open(FASTMCP)
                await watch()
            return client.run

    async def _watch_connection(self, client: _Client, connection: Any) -> None:
        connection.exit_stack.push_async_callback(_end, client)

    async def _watch_loop(self, user: Key, client: _Client) -> None:
        # Nobody tells that the only client has gone, but a loop closes its generators at its end.
        client.watch = self._wait(user, client)
        await anext(client.watch)

    async def _wait(self, user: Key, client: _Client) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._users.pop(user, None)
            await _end(client)


async def _end(client: _Client) -> None:
    if client.run is not None:
        await client.run.end()


def _find_connection(context: Context | None) -> Any:
    """The connection of a client that has shaken hands; none for a request that stands alone."""
    if context is None:
        return None
    try:
        session = context.session
    except RuntimeError:
        return None
    connection = getattr(session, "_connection", None)
    version = getattr(connection, "protocol_version", None)
    return None if version in MODERN_PROTOCOL_VERSIONS else connection


def _find_user(context: Context | None) -> Key:
    """Who a client is that has not shaken hands; None if nobody knows."""
    if context is None or context.request_context is None:
        return None
    token = get_access_token()
    if token is not None:
        return ("user", *principal_components(token))
    return None if context.transport in STREAMS else PROCESS


WRAPPED = "result"
"""The only key of the structured content that FastMCP makes of a value that is no object."""


def read_tool(value: Any) -> ToolResult:
    """The value of a tool's result; its parts, if it says more than one thing."""
    if not isinstance(value, ToolAnswer):
        return ToolResult(output=to_jsonable_python(value, fallback=str, bytes_mode="base64"))
    return ToolResult(success=not value.is_error, output=_read_value(value))


def _read_value(value: ToolAnswer) -> Any:
    structured = value.structured_content
    said = _read_blocks(value.content)
    if structured is None:
        return said
    inner = structured[WRAPPED] if set(structured) == {WRAPPED} else structured
    if repeats(said, inner) or repeats(said, structured):
        return inner
    return {"content": said, "structured_content": structured}


def _read_blocks(blocks: Sequence[Any]) -> Any:
    if all(isinstance(one, TextContent) and one.annotations is None for one in blocks):
        return "\n".join(one.text for one in blocks)
    return [to_jsonable_python(one, fallback=str) for one in blocks]


def write_tool(value: Any, output: Any) -> ToolAnswer:
    """A tool's result with what hooks left of it; nothing else of the old one goes out."""
    before = value.structured_content if isinstance(value, ToolAnswer) else None
    meta = value.meta if isinstance(value, ToolAnswer) else None
    if before is None:
        return ToolAnswer(content=_write_blocks(output))
    if isinstance(output, dict) and set(output) == {"content", "structured_content"}:
        content = _write_blocks(output["content"])
        return ToolAnswer(content, output["structured_content"], meta=meta)
    if set(before) == {WRAPPED} or not isinstance(output, dict):
        return ToolAnswer(_write_blocks(output), {WRAPPED: output}, meta=meta)
    return ToolAnswer(_write_blocks(output), output, meta=meta)


def _write_blocks(output: Any) -> Any:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def add_texts(value: Any, texts: Sequence[str]) -> Any:
    """A result with more to read for the agent."""
    if isinstance(value, ToolAnswer) and texts:
        more = [TextContent(type="text", text=one) for one in texts]
        return value.model_copy(update={"content": [*value.content, *more]})
    return value


def read_resource(value: ResourceResult) -> ToolResult:
    """The text of a resource; the size of what is no text."""
    parts = [
        one.content if isinstance(one.content, str) else f"<{len(one.content)} bytes>"
        for one in value.contents
    ]
    return ToolResult(output=parts[0] if len(parts) == 1 else parts)


def write_resource(value: ResourceResult, output: Any) -> ResourceResult:
    """A resource with what hooks left of it."""
    parts = output if isinstance(output, list) else [output]
    before = value.contents if isinstance(value, ResourceResult) else []
    kinds = [one.mime_type for one in before] if len(before) == len(parts) else []
    made = [
        ResourceContent(one if isinstance(one, str) else json.dumps(one), mime_type=kind)
        for one, kind in zip(parts, kinds or [None] * len(parts), strict=True)
    ]
    return ResourceResult(made)


def read_prompt(value: PromptResult) -> ToolResult:
    """The messages of a prompt."""
    return ToolResult(output=[_read_message(one) for one in value.messages])


def _read_message(message: Message) -> dict[str, Any]:
    content = message.content
    said = content.text if isinstance(content, TextContent) else to_jsonable_python(content)
    return {"role": message.role, "content": said}


def write_prompt(value: PromptResult, output: Any) -> PromptResult:
    """A prompt with what hooks left of it; what they left alone keeps its own objects."""
    if not isinstance(output, list):
        return PromptResult([Message(output)])
    before = value.messages if isinstance(value, PromptResult) else []
    known = {json.dumps(_read_message(one), sort_keys=True): one for one in before}
    return PromptResult(
        [known.get(json.dumps(one, sort_keys=True)) or _write(one) for one in output]
    )


def _write(message: Any) -> Message:
    if not isinstance(message, dict):
        return Message(message)
    said = message.get("content") or ""
    return Message(said, role="assistant" if message.get("role") == "assistant" else "user")


READ = "resources/read"
GET = "prompts/get"
"""The names under which hooks see what is not a tool."""


class AmplifierMCP(Middleware):
    """Judges the calls of each client of a server; add it after all other middleware."""

    def __init__(self, hooks: Governable) -> None:
        self._clients = Clients(govern(hooks))

    async def on_initialize(
        self,
        context: MiddlewareContext[InitializeRequest],
        call_next: CallNext[InitializeRequest, InitializeResult | None],
    ) -> InitializeResult | None:
        """Open the session of a client that connects, or refuse it."""
        try:
            async with self._clients.find(context.fastmcp_context):
                return await call_next(context)
        except SessionDenied as error:
            raise MCPError(code=INVALID_REQUEST, message=str(error)) from error

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolAnswer],
    ) -> ToolAnswer:
        """Run a tool with what hooks left of the call."""
        message = context.message

        async def run_tool(given: dict[str, Any]) -> Any:
            await check_client(context.fastmcp_context)
            changed = message.model_copy(update={"arguments": given})
            return await call_next(
                context if is_same(given, arguments) else context.copy(message=changed)
            )

        arguments = dict(message.arguments or {})
        wanted = self._describe(context, message.name, arguments, run_tool, read_tool)
        found = await self._judge(context, wanted, write_tool, ToolError)
        answer: ToolAnswer = found
        return answer

    async def on_read_resource(
        self,
        context: MiddlewareContext[ReadResourceRequestParams],
        call_next: CallNext[ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource, if hooks let it be read, and hand on what they left of it."""
        message = context.message

        async def read(given: dict[str, Any]) -> Any:
            await check_client(context.fastmcp_context)
            changed = message.model_copy(update={"uri": given.get("uri")})
            return await call_next(
                context if is_same(given, asked) else context.copy(message=changed)
            )

        asked = {"uri": str(message.uri)}
        wanted = self._describe(context, READ, asked, read, read_resource)
        found = await self._judge(context, wanted, write_resource, ResourceError)
        resource: ResourceResult = found
        return resource

    async def on_get_prompt(
        self,
        context: MiddlewareContext[GetPromptRequestParams],
        call_next: CallNext[GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Get a prompt of the server, if hooks let it be used, and hand on what they left of it."""
        message = context.message

        async def get(given: dict[str, Any]) -> Any:
            await check_client(context.fastmcp_context)
            changed = message.model_copy(update=given)
            return await call_next(
                context if is_same(given, asked) else context.copy(message=changed)
            )

        asked = {"name": message.name, "arguments": dict(message.arguments or {})}
        wanted = self._describe(context, GET, asked, get, read_prompt)
        found = await self._judge(context, wanted, write_prompt, PromptError)
        prompt: PromptResult = found
        return prompt

    def _describe(
        self,
        context: MiddlewareContext[Any],
        name: str,
        arguments: dict[str, Any],
        handler: Callable[[dict[str, Any]], Any],
        read: Callable[[Any], ToolResult],
    ) -> Wanted:
        return Wanted(name, arguments, _find_id(context.fastmcp_context), handler, read)

    async def _judge(
        self,
        context: MiddlewareContext[Any],
        wanted: Wanted,
        write: Callable[[Any, Any], Any],
        refuse: type[FastMCPError],
    ) -> Any:
        """Take it through the hooks of the client's session."""
        if (why := self._find_later(context.fastmcp_context)) is not None:
            raise refuse(why)
        try:
            async with self._clients.find(context.fastmcp_context) as run:
                wanted.is_alive = lambda: not run.has_ended
                run.coordinator.reset_turn()  # nothing tells where a turn of the agent begins
                called = await run.call(wanted)
                found = _read_called(called, write, refuse)
                return add_texts(found, take_texts(run))
        except (SessionDenied, RunEnded) as error:
            raise refuse(str(error)) from error

    def _find_later(self, context: Context | None) -> str | None:
        """Why hooks would judge something else than what runs, if they would."""
        server = None if context is None else context.fastmcp
        order = [] if server is None else server.middleware
        later = order[order.index(self) + 1 :] if self in order else []
        if not later:
            return None
        names = ", ".join(type(one).__name__ for one in later)
        return (
            f"AmplifierMCP has to be the last middleware of the server, but {names} was added "
            "after it and could change what hooks have judged; nothing was run"
        )


def _read_called(
    called: Called, write: Callable[[Any, Any], Any], refuse: type[FastMCPError]
) -> Any:
    if called.untouched:
        return called.value
    if called.result.denied or not called.result.success:
        raise refuse(called.text)
    return write(called.value, called.result.output)


def take_texts(run: Run) -> list[str]:
    """What hooks have injected since the last time: the agent reads it with a result."""
    return run.session.take_texts()


async def check_client(context: Context | None) -> None:
    """RunEnded if nobody waits for the result any more: a late yes runs nothing.

    A client that stops waiting and says so has cancelled the call; over HTTP it may just go. Where
    the answer comes by another way than the request, the end of that way cancels the call.
    """
    asked = None if context is None else context.request_context
    request = None if asked is None else asked.request
    if context is None or request is None or context.transport != "streamable-http":
        return
    if await request.is_disconnected():
        raise RunEnded("the client went before this was allowed, so nothing was run")


def _find_id(context: Context | None) -> str:
    asked = None if context is None else context.request_context
    return "" if asked is None or asked.request_id is None else str(asked.request_id)


__all__ = ["AmplifierMCP", "coverage"]


def coverage() -> Coverage:
    """What the adapter sees, and what it does not."""
    return FASTMCP
