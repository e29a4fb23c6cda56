"""uvicorn behind the guard. An optional package: imported where used."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import sys
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from amplifier_hooks.http_guard.guard import MAX_HEAD, App

BACKLOG = 4096
HEAD_SECONDS = 20.0
KEEP_ALIVE_SECONDS = 30


class CannotListen(OSError):
    """The address cannot be listened on; the message says why."""


class GuardedConfig(uvicorn.Config):
    """The settings of uvicorn that all listeners share; `more` are further ones."""

    def __init__(self, app: App, *, most_connections: int, **more: Any) -> None:
        self.most_connections = most_connections
        settings: dict[str, Any] = {
            "loop": "asyncio",
            # Others hide the difference between a path and a whole address as the target.
            "http": GuardedHttp,
            "ws": "none",
            "lifespan": "off",
            "log_config": None,
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "backlog": BACKLOG,
            "timeout_keep_alive": KEEP_ALIVE_SECONDS,
            "h11_max_incomplete_event_size": MAX_HEAD,
        }
        super().__init__(app, **{**settings, **more})


class GuardedHttp(H11Protocol):
    """Gives up a connection whose next request does not come: many would fill the process.

    The time begins when it is opened, and with the first byte after an answer. What is no HTTP is
    refused with the status that the parser gives as the reason.
    """

    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > getattr(self.config, "most_connections", sys.maxsize):
            self._refuse(503, "Too many connections.")
            return
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._wait_for_head()
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser refused; uvicorn calls it while it handles the error."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        self._refuse(status, f"This is not an HTTP request that can be served: {error}")

    def _wait_for_head(self) -> None:
        if self._giving_up is None and self.conn.their_state is h11.IDLE:
            self._giving_up = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        if self.conn.trailing_data[0]:
            self._refuse(408, f"The head did not arrive within {HEAD_SECONDS:g} seconds.")
        else:
            self.transport.abort()

    def _refuse(self, status: int, why: str) -> None:
        """Answer, unless an answer is under way, and close."""
        self._stop_waiting()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": {"code": "http", "message": why}}).encode()
            headers = [
                ("content-type", "application/json"),
                ("content-length", str(len(body))),
                ("connection", "close"),
            ]
            answer = h11.Response(status_code=status, headers=headers)
            for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            # The application may still be reading, and must not answer as well.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


class Listener:
    """Serves an application within a process that has a life and signals of its own."""

    def __init__(self, config: GuardedConfig) -> None:
        config.load()
        self._config = config
        self._state = ServerState()
        self._server: asyncio.Server | None = None

    async def start(self, listening: socket.socket) -> None:
        """Accept connections."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._make_protocol, sock=listening)

    def close(self) -> None:
        """Accept no more, and close connections on which nothing is being answered."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()

    async def finish(self, grace: float) -> None:
        """Wait for the answers under way, then close what is left."""
        if self._state.tasks:
            await asyncio.wait(set(self._state.tasks), timeout=grace)
        left = set(self._state.tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=grace)
        for connection in list(self._state.connections):
            connection.transport.close()

    def _make_protocol(self) -> GuardedHttp:
        return GuardedHttp(self._config, self._state, {})


def bind(host: str, port: int, *, advice: str = "choose another one") -> socket.socket:
    """A socket that listens there; CannotListen if that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, so that asyncio knows it as TCP and sends the end of an answer without delay.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]") or "0.0.0.0", port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            why = f"Port {port} is in use, perhaps by another server; {advice}"
        else:
            why = f"Cannot listen on {host} port {port}: {error.strerror or error}"
        raise CannotListen(why) from error
    listening.setblocking(False)
    return listening
