"""The running server: it listens, says where, and ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from amplifier_apps.web.app import create_app
from amplifier_apps.web.connection import AbortableWebSocket, ImpatientHttp
from amplifier_apps.web.live.messages import MAX_MESSAGE
from amplifier_apps.web.services import Services
from amplifier_apps.web.settings import ServeError, ServerSettings, check_settings
from amplifier_foundation.stores.store import open_store

if TYPE_CHECKING:
    from fastapi import FastAPI

    from amplifier_foundation.stores.store import Store

BACKLOG = 4096
GRACE_SECONDS = 5
_GOODBYE_SECONDS = 1.0
_SPARE_FILES = 500

Ready = Callable[["Store", ServerSettings], Awaitable[None]]


class Server(uvicorn.Server):
    """A server that tells its clients before it ends."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services
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
        self._services.close()
        # Whoever is connected now still gets an answer; the rest of it takes care of stragglers.
        if self.server_state.tasks:
            await asyncio.wait(set(self.server_state.tasks), timeout=_GOODBYE_SECONDS)
        await super().shutdown(sockets)


def create_server(app: FastAPI, settings: ServerSettings) -> Server:
    """The server for an app; `serve(sockets=[…])` runs it."""
    config = uvicorn.Config(
        app,
        loop="asyncio",
        # Others hide the difference between a path and a whole address as the target.
        http=ImpatientHttp,
        ws=AbortableWebSocket,
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=2 * settings.max_sockets + _SPARE_FILES,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )
    try:
        config.load()
    except OSError as error:
        raise ServeError(f"The certificate or its key cannot be used: {error}") from error
    return Server(config, app.state.services)


def bind(settings: ServerSettings) -> socket.socket:
    """A socket that listens where the settings say."""
    host = settings.host.strip("[]") or "0.0.0.0"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, settings.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise ServeError(_explain(error, settings)) from error
    listening.setblocking(False)
    return listening


def _explain(error: OSError, settings: ServerSettings) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {settings.port} is in use, perhaps by another server; choose one with --port"
    return f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}"


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
) -> None:
    """Run a server until SIGINT or SIGTERM; `ready` is awaited once it listens."""
    check_settings(settings)
    listening = bind(settings)
    with contextlib.closing(listening):
        settings = replace(settings, port=listening.getsockname()[1])
        raise_file_limit(settings.max_sockets + _SPARE_FILES)
        store = await open_store(store_url)
        try:
            server = create_server(create_app(store, settings), settings)
            if ready is not None:
                await ready(store, settings)
            await server.serve(sockets=[listening])
        finally:
            await store.close()


def raise_file_limit(wanted: int) -> None:
    """Let the process have as many sockets as it may be asked to hold."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
