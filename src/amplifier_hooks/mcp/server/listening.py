"""The server on a port of this machine, for clients that know its token."""

from __future__ import annotations

import socket

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from amplifier_hooks.http_guard import Door, HttpGuard, list_own_hosts
from amplifier_hooks.http_guard.server import GuardedConfig
from amplifier_hooks.mcp.server.server import build_server
from amplifier_hooks.mcp.server.toolbox import Toolbox

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
