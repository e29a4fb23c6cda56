"""The server on a port of this machine, for clients that know its token."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from amplifier_apps.mcp_server.server import build_server
from amplifier_apps.mcp_server.toolbox import Toolbox

PATH = "/mcp"
MOST_REQUEST_BYTES = 1 << 20
MOST_SESSIONS = 100

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TokenGate:
    """Lets requests with the token pass: on this machine, others have accounts too."""

    app: _App
    token: str

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http" or self._is_allowed(scope):
            await self.app(scope, receive, send)
            return
        challenge = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": challenge})
        text = b"Send the header Authorization: Bearer TOKEN, with the token of this server.\n"
        await send({"type": "http.response.body", "body": text})

    def _is_allowed(self, scope: _Message) -> bool:
        given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        wanted = f"Bearer {self.token}".encode()
        return len(given) == 1 and secrets.compare_digest(given[0], wanted)


def build_app(toolbox: Toolbox, host: str, port: int, token: str) -> TokenGate:
    """The application: the token first, then the names that the request came under."""
    names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    security = TransportSecuritySettings(
        allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
    )
    app = build_server(toolbox).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=MOST_REQUEST_BYTES,
        max_sessions=MOST_SESSIONS,
        transport_security=security,
        host=host,
    )
    return TokenGate(app, token)


def take_port(host: str, port: int) -> socket.socket:
    """The port, for this process; OSError if another has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise OSError(f"Port {port} of {host} cannot be used: {error.strerror}") from error


async def serve_http(toolbox: Toolbox, taken: socket.socket, token: str) -> None:
    """Serve clients on a port that was taken, until the process is asked to end."""
    host, port = taken.getsockname()[:2]
    app = build_app(toolbox, host, port, token)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    async with toolbox:
        await uvicorn.Server(config).serve(sockets=[taken])
