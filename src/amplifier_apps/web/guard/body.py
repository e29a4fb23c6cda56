"""The body of a request: complete, small enough, and JSON that everything else can keep."""

from __future__ import annotations

import asyncio
import json
from math import isfinite
from typing import Any

from amplifier_apps.web.guard.refusal import Message, Receive, Refusal

MAX_BODY = 2 * 1024 * 1024
MAX_ANONYMOUS_BODY = 4 * 1024
BODY_SECONDS = 30.0


async def read_body(
    receive: Receive, limit: int, seconds: float = BODY_SECONDS
) -> bytes | Refusal | None:
    """The whole body, a refusal, or None if the client went away."""
    try:
        async with asyncio.timeout(seconds):
            return await _collect(receive, limit)
    except TimeoutError:
        return Refusal(408, "slow", f"The body did not arrive within {seconds:g} seconds.")


async def _collect(receive: Receive, limit: int) -> bytes | Refusal | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > limit:
            return refuse_size(limit)
        if not message.get("more_body", False):
            return bytes(body)


def refuse_size(limit: int) -> Refusal:
    """The refusal of a body that is too large."""
    return Refusal(413, "too_large", f"The body may have at most {limit} bytes.")


def check_json(body: bytes) -> Refusal | None:
    """Refuse what is not JSON, or what others read otherwise: NaN, a key twice, endless nesting."""
    if not body:
        return None
    try:
        json.loads(
            body,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
            object_pairs_hook=_refuse_repetition,
        )
    except RecursionError:
        return Refusal(400, "json", "The body is nested too deeply.")
    except ValueError as error:
        return Refusal(400, "json", f"The body is not JSON: {error}")
    return None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _refuse_repetition(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("an object has a key twice")


def _parse_finite(text: str) -> float:
    if isfinite(number := float(text)):
        return number
    raise ValueError("a number is too large")


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body again, and then whatever comes."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
