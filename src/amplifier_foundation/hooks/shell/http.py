"""Hooks that are asked over HTTP: one POST, no redirects, to this machine or over TLS."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import ssl
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import SplitResult, urlsplit

from amplifier_foundation.hooks.shell.handler import Handler, Reply

_LIMIT = 1_000_000
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


def refusal(url: str, allowed: Any = None) -> str | None:
    """Why a URL may not be asked, or None."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError as error:
        return f"url {url!r} is not valid: {error}"
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        return f"url {url!r} must be http://… on this machine or https://…"
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        return f"url {url!r} leaves this machine without TLS; use https"
    if any(ord(char) < 33 for char in url):
        return f"url {url!r} holds blanks or control characters"
    if isinstance(allowed, list) and not any(fnmatchcase(url, str(rule)) for rule in allowed):
        return f"url {url!r} is not among 'allowedHttpHookUrls'"
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def post(handler: Handler, body: bytes) -> Reply:
    """The reply of the server, read as if a command had printed it."""
    assert handler.url is not None
    try:
        async with asyncio.timeout(handler.timeout):
            status, text = await _exchange(handler.url, _headers(handler), body)
    except TimeoutError:
        sentence = f"Hook {handler.url!r} did not answer within {handler.timeout:g} s"
        return Reply(failure=sentence, timed_out=True)
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        return Reply(failure=f"Hook {handler.url!r} cannot be reached: {error}")
    if not 200 <= status < 300:
        return Reply(failure=f"Hook {handler.url!r} answered with status {status}")
    return Reply(stdout=text)


def _headers(handler: Handler) -> dict[str, str]:
    def value(match: re.Match[str]) -> str:
        return os.environ.get(match[1], "") if match[1] in handler.header_vars else ""

    return {
        name: re.sub(r"[\r\n]", "", _VARIABLE.sub(value, text))
        for name, text in handler.headers.items()
        if re.fullmatch(r"[A-Za-z0-9-]+", name)
    }


async def _exchange(url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
    """HTTP/1.0, so that the end of the connection is the end of the answer."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    context = ssl.create_default_context() if secure else None
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
    try:
        writer.write(_request(parts, headers, body))
        await writer.drain()
        return _response(await _read(reader))
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> bytes:
    received = bytearray()
    while chunk := await reader.read(65_536):
        received += chunk
        if len(received) > _LIMIT:
            raise ValueError(f"the answer is longer than {_LIMIT} bytes")
    return bytes(received)


def _request(parts: SplitResult, headers: Mapping[str, str], body: bytes) -> bytes:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    fixed = {
        "Host": parts.netloc.rpartition("@")[2],
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    lines = [f"POST {target} HTTP/1.0", *(f"{k}: {v}" for k, v in {**headers, **fixed}.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _response(received: bytes) -> tuple[int, str]:
    head, separator, body = received.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.[01] (\d{3})", head)
    if not separator or status is None:
        raise ValueError("the answer is not HTTP")
    return int(status[1]), body.decode("utf-8", "replace")
