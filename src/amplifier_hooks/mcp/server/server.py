"""The toolbox as an MCP server, for both eras of the protocol."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from amplifier_hooks.http_guard import Door, HttpGuard, list_own_hosts
from amplifier_hooks.http_guard.server import GuardedConfig
from amplifier_hooks.mcp.server.tool import Refused, Tool
from amplifier_hooks.mcp.server.toolbox import INSTRUCTIONS, Toolbox

NAME = "amplifier"
BUNDLE = "amplifier://bundle"
TOOLS = "amplifier://tools"

_READ_ONLY = {
    "read_only_hint": True,
    "destructive_hint": False,
    "idempotent_hint": True,
    "open_world_hint": False,
}
_RESOURCES = [
    types.Resource(
        uri=BUNDLE,
        name="bundle",
        title="The bundle",
        description="The modules and settings of this folder's bundle, without option values.",
        mime_type="text/plain",
    ),
    types.Resource(
        uri=TOOLS,
        name="tools",
        title="The tools",
        description="What each tool of this server answers.",
        mime_type="text/markdown",
    ),
]


def build_server(toolbox: Toolbox) -> Server[None]:
    """A server that lists and calls the tools, and has two resources."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(one) for one in toolbox.tools.values()])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        reply = await toolbox.call(params.name, params.arguments)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)],
            structured_content=reply.structured,
            is_error=reply.is_error,
        )

    async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=_RESOURCES)

    async def read_resource(
        context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await _read_resource(toolbox, str(params.uri))
        content = types.TextResourceContents(uri=params.uri, text=text, mime_type="text/plain")
        return types.ReadResourceResult(contents=[content])

    return Server(
        NAME,
        version=version("amplifier-hooks"),
        title="Amplifier Hooks",
        instructions=INSTRUCTIONS,
        lifespan=_share_toolbox,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


@asynccontextmanager
async def _share_toolbox(server: Server[None]) -> AsyncIterator[None]:
    """Each connection has one of these; the toolbox serves all of them."""
    yield


def _describe(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(title=tool.title, **_READ_ONLY),
    )


async def _read_resource(toolbox: Toolbox, uri: str) -> str:
    if uri == TOOLS:
        return "\n\n".join(f"## {one.name}\n\n{one.description}" for one in toolbox.tools.values())
    if uri != BUNDLE:
        known = f"There is no resource {uri[:100]!r}; there are {BUNDLE} and {TOOLS}"
        raise MCPError(types.INVALID_PARAMS, known)
    try:
        return await toolbox.describe_bundle()
    except Refused as refused:
        presenter = await toolbox.make_presenter()
        raise MCPError(types.INTERNAL_ERROR, presenter.present_text(str(refused))) from refused


async def serve_stdio(toolbox: Toolbox) -> None:
    """Serve the client at standard input, until it leaves."""
    server = build_server(toolbox)
    async with toolbox, stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


PATH = "/mcp"
MOST_REQUEST_BYTES = 1 << 20
MOST_SESSIONS = 100
_MOST_CONNECTIONS = 4 * MOST_SESSIONS
_GRACE_SECONDS = 5


def build_app(toolbox: Toolbox, host: str, port: int, token: str) -> HttpGuard:
    """The SDK's application behind the guard, which has decided before the SDK looks again."""
    hosts = list_own_hosts(host, port)
    origins = frozenset(f"http://{name}" for name in hosts)
    security = TransportSecuritySettings(
        allowed_hosts=sorted(hosts), allowed_origins=sorted(origins)
    )
    app = build_server(toolbox).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=MOST_REQUEST_BYTES,
        max_sessions=MOST_SESSIONS,
        transport_security=security,
        host=host,
    )
    door = Door(
        hosts=hosts,
        origins=origins,
        methods=("GET", "POST", "DELETE"),
        path=PATH,
        token=token,
        body_limit=MOST_REQUEST_BYTES,
    )
    return HttpGuard(app, door)


def create_server(app: HttpGuard) -> uvicorn.Server:
    """The server for the application; `serve(sockets=[…])` runs it."""
    config = GuardedConfig(
        app,
        most_connections=_MOST_CONNECTIONS,
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)


async def serve_http(toolbox: Toolbox, taken: socket.socket, token: str) -> None:
    """Serve clients on a port that was taken, until the process is asked to end."""
    host, port = taken.getsockname()[:2]
    server = create_server(build_app(toolbox, host, port, token))
    async with toolbox:
        await server.serve(sockets=[taken])
