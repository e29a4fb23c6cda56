"""As much of HTTP/1.1 as a scripted model server needs; nothing that guards may rely on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

_LONGEST_BODY = 64 * 1024 * 1024
_MOST_HEADERS = 200


class BadRequest(Exception):
    """The request cannot be served; `status` says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; the names of the headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request on a connection, or None if it was closed without one."""
    try:
        line = await reader.readline()
        if not line.strip():
            return None
        method, target = _parse_request_line(line)
        headers = await _read_headers(reader)
        body = await reader.readexactly(_read_length(headers))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except ValueError as failure:
        raise BadRequest(400, f"This is not an HTTP request: {failure}") from failure
    return HttpRequest(method, target.partition("?")[0], headers, body)


def _parse_request_line(line: bytes) -> tuple[str, str]:
    words = line.decode("latin-1").split()
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(400, f"This is not an HTTP/1.1 request: {line[:80]!r}")
    return words[0].upper(), words[1]


async def _read_headers(reader: asyncio.StreamReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        line = (await reader.readline()).decode("latin-1").strip()
        if not line:
            return headers
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    raise BadRequest(431, f"The request has more than {_MOST_HEADERS} headers")


def _read_length(headers: Mapping[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise BadRequest(411, "The body needs a Content-Length")
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= _LONGEST_BODY:
        raise BadRequest(413, f"The body may have up to {_LONGEST_BODY} bytes, not {length}")
    return length


class HttpResponse:
    """The response to one request, written piece by piece."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send_json(
        self, status: int, body: Any, headers: Mapping[str, str] | None = None, *, cut: bool = False
    ) -> None:
        """Send a JSON body; with `cut`, only its first half, and then drop the connection."""
        content = json.dumps(body, ensure_ascii=False).encode()
        facts = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        self._write_head(status, facts | dict(headers or {}))
        self._writer.write(content[: len(content) // 2] if cut else content)
        await self._writer.drain()
        if cut:
            self.abort()

    async def start_events(self) -> None:
        """Send the head of a stream of events."""
        facts = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        self._write_head(200, facts | {"Transfer-Encoding": "chunked"})
        await self._writer.drain()

    async def send_event(self, frame: bytes) -> None:
        """Send one event, at once."""
        self._writer.write(b"%x\r\n%s\r\n" % (len(frame), frame))
        await self._writer.drain()

    async def end_events(self) -> None:
        """End the stream properly."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def abort(self) -> None:
        """Drop the connection."""
        self._writer.close()

    def _write_head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {_get_phrase(status)}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


def _get_phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded" if status == 529 else "Unknown"
