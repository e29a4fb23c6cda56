"""How uvicorn runs the endpoint. It is an optional package, so this is imported when it is used."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from amplifier_foundation.gateway.http.incoming.app import GatewayApp
from amplifier_foundation.gateway.http.open_files import raise_file_limit, share_of_files

BACKLOG = 1024
HEAD_SECONDS = 20.0
_AT_ONCE = 4096
_GRACE_SECONDS = 5


class ImpatientHttp(H11Protocol):
    """Gives up a connection on which no request comes: enough of them would fill the process.

    Who was let in once may take more time; bodies have a limit of their own.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.abort()


class EndpointServer(uvicorn.Server):
    """Leaves signals to who runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield


def create_server(app: GatewayApp) -> EndpointServer:
    """The server for the endpoint; `serve(sockets=[…])` runs it."""
    raise_file_limit(3 * _AT_ONCE)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=ImpatientHttp,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=share_of_files(2, _AT_ONCE),
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return EndpointServer(config)
