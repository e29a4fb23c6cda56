"""Letting clients connect by streamable HTTP instead of standard input."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable

from amplifier_core.utils import cancel_and_wait
from amplifier_foundation.gateway.channel import ChannelError
from amplifier_foundation.gateway.http.incoming.admission import PATH, Admission
from amplifier_foundation.gateway.http.incoming.app import GatewayApp
from amplifier_foundation.gateway.http.incoming.hub import Hub, Serve
from amplifier_foundation.gateway.http.incoming.settings import ListenSettings
from amplifier_foundation.modules.extras import require

_BACKLOG = 1024
_SWEEP_SECONDS = 15.0

Ready = Callable[[str], None]
"""Gets the address under which clients connect."""


async def listen(settings: ListenSettings, serve: Serve, *, ready: Ready | None = None) -> None:
    """Run until cancelled: `serve` is called for each client that connects.

    A client with a session has a relay of its own; those without share one. ChannelError if
    nothing can listen there.
    """
    require("uvicorn", "The gateway's --listen", "mcp")
    from amplifier_foundation.gateway.http.incoming.connection import create_server

    with contextlib.closing(_bind(settings)) as listening:
        hub = Hub(settings, serve)
        server = create_server(GatewayApp(Admission(settings), hub))
        sweeping = asyncio.create_task(_sweep(hub))
        running = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            if ready is not None:
                ready(_name_address(settings, listening))
            await asyncio.shield(running)
        finally:
            await cancel_and_wait(sweeping)
            await hub.close()
            server.should_exit = True
            await running


def _bind(settings: ListenSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ChannelError(_explain(error, settings)) from error
    listening.setblocking(False)
    return listening


def _explain(error: OSError, settings: ListenSettings) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {settings.port} is in use, perhaps by another gateway; choose another one"
    return f"Cannot listen on {settings.host} port {settings.port}: {error.strerror or error}"


def _name_address(settings: ListenSettings, listening: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listening.getsockname()[1]}{PATH}"


async def _sweep(hub: Hub) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        hub.end_idle()
