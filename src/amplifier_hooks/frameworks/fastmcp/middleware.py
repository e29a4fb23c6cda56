"""The middleware that puts hooks in front of an MCP server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmcp.exceptions import FastMCPError, PromptError, ResourceError, ToolError
from fastmcp.prompts import PromptResult
from fastmcp.resources import ResourceResult
from fastmcp.server.context import Context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult as ToolAnswer
from mcp import MCPError
from mcp_types import (
    INVALID_REQUEST,
    CallToolRequestParams,
    GetPromptRequestParams,
    InitializeRequest,
    InitializeResult,
    ReadResourceRequestParams,
)

from amplifier_core.errors import SessionDenied
from amplifier_core.models import ToolResult
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.calling import RunEnded, Wanted
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.fastmcp.clients import Clients
from amplifier_hooks.frameworks.fastmcp.results import (
    add_texts,
    read_prompt,
    read_resource,
    read_tool,
    write_prompt,
    write_resource,
    write_tool,
)
from amplifier_hooks.frameworks.governing import Governable, govern

READ, GET = "resources/read", "prompts/get"
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
