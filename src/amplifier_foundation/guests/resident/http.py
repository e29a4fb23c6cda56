"""Events by HTTP, for agents that can send them so: on this machine only, and with a token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import time
from http import HTTPStatus

from amplifier_foundation.dialects import DIALECTS
from amplifier_foundation.guests.resident.desk import Desk, Interrupted
from amplifier_foundation.guests.resident.launching import Door
from amplifier_foundation.guests.resident.refusal import write_refusal
from amplifier_foundation.guests.resident.request import Request, Response
from amplifier_foundation.model_server.http import BadRequest, HttpRequest, read_request

logger = logging.getLogger(__name__)

AGENT = "claude"
SECONDS_HEADER = "x-amplifier-seconds"
BUNDLE_HEADER = "x-amplifier-bundle"
_NOT_BY_HTTP = frozenset({"SessionStart", "Setup"})
_DEFAULT_SECONDS = 30.0
_LONGEST_SECONDS = 86400.0
_STRANGER_SECONDS = 10.0
_MOST_CONNECTIONS = 128


class HttpServer:
    """Takes `POST /claude/EVENT` on one port; a connection may carry any number of requests."""

    def __init__(self, door: Door, desk: Desk) -> None:
        self._door = door
        self._desk = desk
        self._server: asyncio.Server | None = None
        self._problem = ""
        self._idle: set[asyncio.StreamWriter] = set()
        self._connections = 0

    async def open(self) -> None:
        """Listen; without the port the process still serves the clients at its socket."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._door.port)
        except OSError as failure:
            self._problem = failure.strerror or str(failure)
            logger.error("Nothing is served by HTTP on port %d: %s", self._door.port, failure)  # noqa: TRY400

    async def close(self) -> None:
        """Listen no more, and hang up on who asks nothing."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._idle):
            writer.close()

    def describe(self) -> dict[str, object]:
        """For the status of the process; the token is nobody's business."""
        return {"port": self._door.port, "listening": not self._problem, "problem": self._problem}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= _MOST_CONNECTIONS:
                await self._serve_all(reader, writer)
        except OSError as failure:
            logger.debug("A connection ended: %s", failure)
        except Exception:
            logger.exception("A connection got no answer")
        finally:
            self._connections -= 1
            writer.close()

    async def _serve_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request after the other; a stranger has less time than who has shown the token."""
        patience: float | None = _STRANGER_SECONDS
        while not self._desk.lifetime.ending:
            try:
                request = await self._wait_for_request(reader, writer, patience)
                if request is None:
                    return
                status, body = HTTPStatus.OK, await self._answer(request)
            except BadRequest as failure:
                await _send(writer, HTTPStatus(failure.status), str(failure).encode(), close=True)
                return
            except _Failed as failure:
                status, body = HTTPStatus.INTERNAL_SERVER_ERROR, str(failure).encode()
            await _send(writer, status, body)
            patience = None

    async def _wait_for_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float | None
    ) -> HttpRequest | None:
        self._idle.add(writer)
        try:
            async with asyncio.timeout(patience):
                return await read_request(reader, self._check)
        finally:
            self._idle.discard(writer)

    def _check(self, request: HttpRequest) -> None:
        """BadRequest unless this is an event, for us, from somebody who knows the token."""
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, f"Bearer {self._door.token}".encode()):
            raise BadRequest(401, "The header Authorization must have the token")
        hosts = {f"{name}:{self._door.port}" for name in ("127.0.0.1", "localhost")}
        if request.headers.get("host", "").lower() not in hosts:
            raise BadRequest(421, f"The header Host must be one of {sorted(hosts)}")
        if request.method != "POST":
            raise BadRequest(405, "Events come by POST")
        _read_event(request)
        _read_seconds(request)

    async def _answer(self, request: HttpRequest) -> bytes:
        event = _read_event(request)
        asked = Request(
            agent=AGENT,
            event=event,
            payload=request.body,
            seconds=_read_seconds(request),
            bundle=request.headers.get(BUNDLE_HEADER, ""),
            marks=frozenset({"HTTP"}),
        )
        try:
            response = await self._desk.answer(asked, time.monotonic())
        except Interrupted:
            response = Response(2, b"", b"amplifier: this was not judged: the process is replaced")
        return _translate(event, response)


class _Failed(Exception):
    """There is no answer, and nothing to block."""


def _translate(event: str, response: Response) -> bytes:
    """The body of an answer: what has an exit code has to be said in words."""
    if response.code == 0:
        return response.stdout
    reason = response.stderr.decode("utf-8", "replace").strip() or "amplifier: not judged"
    if DIALECTS[AGENT].events[event].gate:
        return write_refusal(event, reason)
    raise _Failed(reason)


def _read_event(request: HttpRequest) -> str:
    agent, _, event = request.path.lstrip("/").partition("/")
    if agent != AGENT or event not in DIALECTS[AGENT].events or event in _NOT_BY_HTTP:
        raise BadRequest(404, f"There is no event at {request.path[:100]!r}")
    return event


def _read_seconds(request: HttpRequest) -> float:
    text = request.headers.get(SECONDS_HEADER, str(_DEFAULT_SECONDS))
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) <= _LONGEST_SECONDS:
            return seconds
    raise BadRequest(400, f"{SECONDS_HEADER} must be a number of seconds, not {text[:40]!r}")


async def _send(
    writer: asyncio.StreamWriter, status: HTTPStatus, body: bytes, *, close: bool = False
) -> None:
    kind = "application/json" if status is HTTPStatus.OK else "text/plain; charset=utf-8"
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        f"Connection: {'close' if close else 'keep-alive'}",
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
