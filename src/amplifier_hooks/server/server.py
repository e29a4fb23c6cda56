"""The running server: it listens, says where, and ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import uvicorn
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from amplifier_hooks.approvals.errors import StoreOutage
from amplifier_hooks.approvals.retry import retry
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.http_guard.server import CannotListen, GuardedConfig
from amplifier_hooks.http_guard.server import bind as bind_socket
from amplifier_hooks.machine.open_files import raise_file_limit
from amplifier_hooks.server.app import create_app
from amplifier_hooks.server.live.socket import MAX_MESSAGE
from amplifier_hooks.server.settings import ServeError, ServerSettings, check_settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from amplifier_hooks.approvals.stores.store import Store


class AbortableWebSocket(WebSocketsSansIOProtocol):
    """Hands the app a way to end the connection at once, which ASGI has no message for."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            self.scope["state"]["abort"] = self.transport.abort

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            # A refusal was sent in full; without this it would be logged as an error of the app.
            self.handshake_complete = True


GRACE_SECONDS = 5
_GOODBYE_SECONDS = 1.0
_SPARE_FILES = 500

logger = logging.getLogger(__name__)

Ready = Callable[["Store", ServerSettings], Awaitable[None]]


class Server(uvicorn.Server):
    """A server that tells its clients before it ends."""

    def __init__(self, config: uvicorn.Config, say_goodbye: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_goodbye = say_goodbye
        self.heeds_signals = True
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so to who waits for it."""
        await super().startup(sockets)
        self.is_up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal, and leave it at that: being stopped is how a server ends."""
        if not self.heeds_signals:
            yield
            return
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread
            for number in numbers:
                loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer long polls, close WebSockets with 1001, then end as usual."""
        for one in self.servers:
            one.close()
        self._say_goodbye()
        # Whoever is connected now still gets an answer; the rest of it takes care of stragglers.
        if self.server_state.tasks:
            await asyncio.wait(set(self.server_state.tasks), timeout=_GOODBYE_SECONDS)
        await super().shutdown(sockets)


def create_server(app: FastAPI, settings: ServerSettings) -> Server:
    """The server for an app; `serve(sockets=[…])` runs it."""
    config = GuardedConfig(
        app,
        most_connections=2 * settings.max_sockets + _SPARE_FILES,
        ws=AbortableWebSocket,
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    try:
        config.load()
    except OSError as error:
        raise ServeError(f"The certificate or its key cannot be used: {error}") from error
    return Server(config, app.state.services.close)


def bind(settings: ServerSettings) -> socket.socket:
    """A socket that listens where the settings say."""
    try:
        return bind_socket(settings.host, settings.port, advice="choose one with --port")
    except CannotListen as error:
        raise ServeError(str(error)) from error


@contextlib.asynccontextmanager
async def serve_beside(store: Store, settings: ServerSettings) -> AsyncIterator[ServerSettings]:
    """Run a server while something else is done; signals are not its business.

    The settings that come back have the port that it listens on.
    """
    check_settings(settings)
    listening = bind(settings)
    with contextlib.closing(listening):
        settings = replace(settings, port=listening.getsockname()[1])
        server = create_server(create_app(store, settings), settings)
        server.heeds_signals = False
        running = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            up = asyncio.ensure_future(server.is_up.wait())
            await asyncio.wait({up, running}, return_when=asyncio.FIRST_COMPLETED)
            up.cancel()
            yield settings
        finally:
            server.should_exit = True
            await running


async def serve(
    settings: ServerSettings,
    store_url: str | Path | None = None,
    *,
    ready: Ready | None = None,
    wait_seconds: float = 0.0,
) -> None:
    """Run a server until SIGINT or SIGTERM; `ready` is awaited once it listens.

    A database that does not answer yet is waited for so long.
    """
    check_settings(settings)
    listening = bind(settings)
    with contextlib.closing(listening):
        settings = replace(settings, port=listening.getsockname()[1])
        raise_file_limit(settings.max_sockets + _SPARE_FILES)
        store = await _wait_for_store(store_url, wait_seconds)
        try:
            server = create_server(create_app(store, settings), settings)
            if ready is not None:
                await ready(store, settings)
            await server.serve(sockets=[listening])
        finally:
            await store.close()


async def _wait_for_store(url: str | Path | None, seconds: float) -> Store:
    """Open the store; a service is often started before its database."""
    end = monotonic() + seconds

    async def warn(error: Exception) -> None:
        left = end - monotonic()
        logger.warning("not ready; the store is tried for %.0f s more: %s", left, error)

    attempt = partial(open_store, url)
    return await retry(attempt, seconds, errors=(StoreOutage,), on_failure=warn)
