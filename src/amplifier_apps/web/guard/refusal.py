"""A refusal: its status, a code for programs, a sentence for people."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes no further."""

    status: int
    code: str
    message: str
    retry_after: int = 0

    @property
    def body(self) -> bytes:
        """What the client reads."""
        return json.dumps({"error": {"code": self.code, "message": self.message}}).encode()

    @property
    def headers(self) -> Headers:
        """Headers of its own."""
        found = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(self.body)).encode()),
        ]
        if self.status == 401:
            found.append((b"www-authenticate", b"Bearer"))
        if self.retry_after:
            found.append((b"retry-after", str(self.retry_after).encode()))
        return found


async def send_refusal(scope: Scope, send: Send, refusal: Refusal, extra: Headers) -> None:
    """Answer a request, or a handshake before it is accepted."""
    kind = "http.response"
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.message})
            return
        kind = "websocket.http.response"
    headers = [*refusal.headers, *extra]
    if kind == "http.response":
        # What is left of a body that nobody read would be taken for the next request.
        headers.append((b"connection", b"close"))
    await send({"type": f"{kind}.start", "status": refusal.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": refusal.body})
