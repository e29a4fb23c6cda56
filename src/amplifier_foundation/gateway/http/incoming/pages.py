"""Pages in a browser that a person has allowed: what the browser wants to hear about them."""

from __future__ import annotations

from collections.abc import Iterable

from amplifier_foundation.gateway.http.incoming.head import Head
from amplifier_foundation.gateway.http.incoming.refusal import Message, Send
from amplifier_foundation.gateway.http.mirrored_headers import SESSION

Headers = list[tuple[bytes, bytes]]

_ASKED = "access-control-request-"


def is_question(head: Head) -> bool:
    """Whether a browser asks if a page may send a request; it sends no token with that."""
    return head.method == "OPTIONS" and head.get(f"{_ASKED}method") is not None


async def answer_question(head: Head, send: Send) -> None:
    """Say yes. Whether the page is allowed has been decided."""
    headers = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", (head.get(f"{_ASKED}headers") or "").encode("latin-1")),
        (b"access-control-max-age", b"600"),
    ]
    if head.get(f"{_ASKED}private-network") == "true":
        headers.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def let_page_read(head: Head, origins: Iterable[str], send: Send) -> Send:
    """The same `send`; for an allowed page, it tells the browser to let it read the answer."""
    origin = head.get("origin")
    if origin is None or origin not in origins:
        return send
    more: Headers = [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", SESSION.encode()),
        (b"vary", b"Origin"),
    ]

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return send_more
