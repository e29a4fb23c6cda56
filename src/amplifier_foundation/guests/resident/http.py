"""Events by HTTP, for agents that can send them so: on this machine only, and with a token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import time
from http import HTTPStatus

from amplifier_foundation.dialects import DIALECTS
from amplifier_foundation.dialects.incoming import Incoming
from amplifier_foundation.dialects.verdict import Verdict
from amplifier_foundation.dialects.writing import write_reply
from amplifier_foundation.guests.resident.desk import Desk, Interrupted
from amplifier_foundation.guests.resident.launching import Door
from amplifier_foundation.guests.resident.request import Request, Response
from amplifier_foundation.model_server.http import BadRequest, HttpRequest, read_request

logger = logging.getLogger(__name__)

AGENT = "claude"
MARK = "HTTP"
"""The mark of a request that came this way: there is no process that could start us."""
SECONDS_HEADER = "x-amplifier-seconds"
BUNDLE_HEADER = "x-amplifier-bundle"
_NOT_BY_HTTP = frozenset({"SessionStart", "Setup"})
_DEFAULT_SECONDS = 30.0
_LONGEST_SECONDS = 86400.0
_STRANGER_SECONDS = 10.0
_MOST_CONNECTIONS = 128
_LONGEST_LINE = 16384  # of what is read before the token is known


class HttpServer:
    """Takes `POST /claude/EVENT` on one port; a connection may carry any number of requests."""

    def __init__(self, door: Door, desk: Desk) -> None:
        self._door = door
        self._desk = desk
        self._server: asyncio.Server | None = None
        self._problem = ""
        self._connections: dict[asyncio.Task[None], _Connection] = {}

    async def open(self) -> None:
        """Listen; without the port the process still serves the clients at its socket."""
        try:
            self._server = await asyncio.start_server(
                self._serve, "127.0.0.1", self._door.port, limit=_LONGEST_LINE
            )
        except OSError as failure:
            self._problem = failure.strerror or str(failure)
            logger.error("Nothing is served by HTTP on port %d: %s", self._door.port, failure)  # noqa: TRY400

    def close(self) -> None:
        """Listen no more, and hang up on who asks nothing."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections.values():
            connection.hang_up_if_idle()

    async def finish(self, grace: float) -> None:
        """Wait until what was asked is answered."""
        if self._connections:
            await asyncio.wait(set(self._connections), timeout=grace)

    def describe(self) -> dict[str, object]:
        """For the status of the process; the token is nobody's business."""
        return {"port": self._door.port, "listening": not self._problem, "problem": self._problem}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        connection = _Connection(reader, writer, self._door, self._desk)
        try:
            if task is not None and len(self._connections) < _MOST_CONNECTIONS:
                self._connections[task] = connection
                await connection.serve()
        except OSError as failure:
            logger.debug("A connection ended: %s", failure)
        except Exception:
            logger.exception("A connection got no answer")
        finally:
            if task is not None:
                self._connections.pop(task, None)
            writer.close()


class _Connection:
    """The requests that come one after the other on one connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, door: Door, desk: Desk
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._door = door
        self._desk = desk
        self._waiting = False
        self._event = ""

    async def serve(self) -> None:
        """Answer until it is closed; a stranger has less time than who has shown the token."""
        patience: float | None = _STRANGER_SECONDS
        while not self._desk.lifetime.ending:
            self._event = ""
            self._waiting = True
            try:
                async with asyncio.timeout(patience):
                    request = await read_request(self._reader, self._check)
            except BadRequest as failure:
                await self._refuse(failure)
                return
            finally:
                self._waiting = False
            if request is None:
                return
            await self._send(*_translate(self._event, await self._judge(request)))
            patience = None

    def hang_up_if_idle(self) -> None:
        """Close it unless something is being answered."""
        if self._waiting:
            self._writer.close()

    def _check(self, request: HttpRequest) -> None:
        """BadRequest unless this is an event, for us, from somebody who knows the token."""
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, f"Bearer {self._door.token}".encode()):
            raise BadRequest(401, "The header Authorization must have the token")
        hosts = [f"{name}:{self._door.port}" for name in ("127.0.0.1", "localhost")]
        if request.headers.get("host", "").lower() not in hosts:
            raise BadRequest(421, f"The header Host must be {' or '.join(hosts)}")
        if request.method != "POST":
            raise BadRequest(405, "Events come by POST")
        self._event = _read_event(request)
        _read_seconds(request)

    async def _judge(self, request: HttpRequest) -> Response:
        asked = Request(
            agent=AGENT,
            event=self._event,
            payload=request.body,
            seconds=_read_seconds(request),
            bundle=request.headers.get(BUNDLE_HEADER, ""),
            marks=frozenset({MARK}),
        )
        try:
            return await self._desk.answer(asked, time.monotonic())
        except Interrupted:
            return Response(2, b"", b"amplifier: this was not judged: the process is replaced")

    async def _refuse(self, failure: BadRequest) -> None:
        """At a gate the agent must read a denial, where it goes on after an error."""
        sentence = f"amplifier: this was not judged: {failure}"
        status, body = _translate(self._event, Response(2, b"", sentence.encode()))
        if status is not HTTPStatus.OK:
            status, body = HTTPStatus(failure.status), str(failure).encode()
        await self._send(status, body, close=True)

    async def _send(self, status: HTTPStatus, body: bytes, *, close: bool = False) -> None:
        kind = "application/json" if status is HTTPStatus.OK else "text/plain; charset=utf-8"
        lines = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            f"Connection: {'close' if close else 'keep-alive'}",
        ]
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await self._writer.drain()


def _translate(event: str, response: Response) -> tuple[HTTPStatus, bytes]:
    """An answer without an exit code: what has one that is not 0 must be said in words."""
    if response.code == 0:
        return HTTPStatus.OK, response.stdout
    reason = response.stderr.decode("utf-8", "replace").strip() or "amplifier: not judged"
    dialect = DIALECTS[AGENT]
    if event in dialect.events and dialect.events[event].gate:
        incoming = Incoming(event="", data={}, native=event, session_id="")
        denial = write_reply(dialect, incoming, Verdict(decision="deny", reason=reason))
        return HTTPStatus.OK, denial.stdout.encode() + b"\n"
    return HTTPStatus.INTERNAL_SERVER_ERROR, reason.encode("utf-8", "replace")


def _read_event(request: HttpRequest) -> str:
    agent, _, event = request.path.removeprefix("/").partition("/")
    if agent != AGENT or event not in DIALECTS[AGENT].events or event in _NOT_BY_HTTP:
        raise BadRequest(404, f"There is no event at {request.path[:100]!r}")
    return event


def _read_seconds(request: HttpRequest) -> float:
    text = request.headers.get(SECONDS_HEADER, str(_DEFAULT_SECONDS))
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) <= _LONGEST_SECONDS:
            return seconds
    raise BadRequest(400, f"{SECONDS_HEADER} must be a number of seconds, not {text[:40]!r}")
