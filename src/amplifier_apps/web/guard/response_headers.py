"""The headers of every answer."""

from __future__ import annotations

import asyncio

from amplifier_apps.web.guard.refusal import Headers, Message, Send

SEND_SECONDS = 60.0
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_API = {"cache-control": "no-store"}
_TLS = {"strict-transport-security": "max-age=31536000"}


def list_headers(*, is_api: bool, uses_tls: bool) -> Headers:
    """What is added to an answer."""
    wanted = {**_ALWAYS, **(_API if is_api else {}), **(_TLS if uses_tls else {})}
    return [(name.encode(), value.encode()) for name, value in wanted.items()]


def add_headers(send: Send, headers: Headers) -> Send:
    """A `send` that adds headers to the answer."""

    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *headers]}
        # Only who does not read lets it take long; the connection is given up then.
        async with asyncio.timeout(SEND_SECONDS):
            await send(message)

    return send_with
