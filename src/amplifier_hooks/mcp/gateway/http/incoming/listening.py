"""Letting clients connect by streamable HTTP instead of standard input."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.http_guard import bracket
from amplifier_hooks.machine.open_files import raise_file_limit, share_of_files
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.incoming.app import GatewayApp
from amplifier_hooks.mcp.gateway.http.incoming.guard import PATH, GatewayGuard, make_door
from amplifier_hooks.mcp.gateway.http.incoming.hub import Hub, Serve
from amplifier_hooks.mcp.gateway.http.incoming.settings import ListenSettings
from amplifier_hooks.modules.installation import require

_MOST_CONNECTIONS = 4096
_GRACE_SECONDS = 5.0
_SWEEP_SECONDS = 15.0

Ready = Callable[[str], None]
"""Gets the address under which clients connect."""


async def listen(settings: ListenSettings, serve: Serve, *, ready: Ready | None = None) -> None:
    """Run until cancelled: `serve` is called for each client that connects.

    A client with a session has a relay of its own; those without share one. ChannelError if
    nothing can listen there.
    """
    require("uvicorn", "The gateway's --listen", "mcp")
    from amplifier_hooks.http_guard.server import CannotListen, GuardedConfig, Listener, bind

    try:
        listening = bind(settings.host, settings.port)
    except CannotListen as error:
        raise ChannelError(str(error)) from error
    with contextlib.closing(listening):
        settings = replace(settings, port=listening.getsockname()[1])
        raise_file_limit(3 * _MOST_CONNECTIONS)
        hub = Hub(settings, serve)
        guard = GatewayGuard(GatewayApp(hub), make_door(settings))
        most = share_of_files(2, _MOST_CONNECTIONS)
        listener = Listener(GuardedConfig(guard, most_connections=most))
        sweeping = asyncio.create_task(_sweep(hub))
        try:
            await listener.start(listening)
            if ready is not None:
                ready(f"http://{bracket(settings.host)}:{settings.port}{PATH}")
            await asyncio.Event().wait()
        finally:
            await cancel_and_wait(sweeping)
            await hub.close()
            listener.close()
            await listener.finish(_GRACE_SECONDS)


async def _sweep(hub: Hub) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        hub.end_idle()
