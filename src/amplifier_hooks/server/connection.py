"""WebSocket connections that the application can end at once."""

from __future__ import annotations

from uvicorn._types import ASGISendEvent
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
