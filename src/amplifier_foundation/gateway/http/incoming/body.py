"""The body of a client's request: complete, in time, and not too large."""

from __future__ import annotations

import asyncio

from amplifier_foundation.gateway.http.incoming.head import Head
from amplifier_foundation.gateway.http.incoming.refusal import Receive, Refusal
from amplifier_foundation.mcp.frames import LARGEST

BODY_SECONDS = 30.0


async def read_body(head: Head, receive: Receive) -> bytes | None:
    """All of it; None if the client went away, Refusal if it is too large or too slow."""
    stated = head.get("content-length") or "0"
    if not stated.isdecimal() or len(stated) > 12 or int(stated) > LARGEST:
        raise _refuse_size()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _collect(receive)
    except TimeoutError:
        raise Refusal(408, f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None


async def _collect(receive: Receive) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST:
            raise _refuse_size()
        if not message.get("more_body", False):
            return bytes(body)


def _refuse_size() -> Refusal:
    return Refusal(413, f"A message may have at most {LARGEST:,} bytes.")
