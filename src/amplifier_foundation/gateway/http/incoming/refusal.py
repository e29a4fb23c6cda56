"""A request that goes no further: an HTTP status, and an error as the protocol has it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from amplifier_foundation.gateway.channel import ChannelError
from amplifier_foundation.mcp.frames import INVALID_REQUEST, refuse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_WITH_STATUS = {401: (b"www-authenticate", b"Bearer"), 405: (b"allow", b"GET, POST, DELETE")}


class Refusal(ChannelError):
    """Why a request is refused."""

    def __init__(
        self, status: int, reason: str, *, code: int = INVALID_REQUEST, id: Any = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code
        self.id = id


async def send_refusal(send: Send, refusal: Refusal) -> None:
    """Answer with it. The connection ends, since what is left of a body was not read."""
    body = refuse(refusal.id, refusal.code, str(refusal)).raw
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
        *([_WITH_STATUS[refusal.status]] if refusal.status in _WITH_STATUS else []),
        *([(b"retry-after", b"5")] if refusal.status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
