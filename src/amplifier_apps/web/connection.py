"""Connections that are given up when nothing comes, or nobody reads."""

from __future__ import annotations

import asyncio

import h11
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request


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


class ImpatientHttp(H11Protocol):
    """Gives up a connection whose next request does not come: enough of them would fill the server.

    The time begins when it is opened, and with the first byte after an answer. Bodies have a limit
    of their own.
    """

    head_seconds = 20.0
    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        self._wait_for_head()
        super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._giving_up is None and self.conn.their_state is h11.IDLE:
            self._giving_up = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None
