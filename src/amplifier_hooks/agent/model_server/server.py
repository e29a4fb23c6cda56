"""The model server: answers requests from a script, each in its own protocol."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any, Protocol, Self

from amplifier_hooks.agent.model_server import chat, gemini, messages, responses
from amplifier_hooks.agent.model_server.exchange import Exchange, Malformed, Object, parse_body
from amplifier_hooks.agent.providers.scripted import (
    CLOSING,
    Failure,
    Playback,
    Reply,
    WhenDone,
    replies_of,
)

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


_BROKEN_OFF = Reply(text="This reply will break off with an error in the middle of it.")


class ServerWire(Protocol):
    """A wire protocol, seen from the server."""

    def find_problem(self, body: Object) -> str | None: ...
    def read_last_words(self, body: Object) -> str: ...
    def count_replies(self, body: Object) -> int: ...
    def write_reply(self, exchange: Exchange) -> Object: ...
    def write_events(self, exchange: Exchange) -> Iterator[bytes]: ...
    def write_error(self, failure: Failure) -> tuple[int, Object]: ...
    def write_error_event(self, failure: Failure) -> bytes: ...


# The SDK of OpenAI puts /v1 into its base URL, the one of Anthropic into its paths.
_WIRES: dict[str, ServerWire] = {module.PATH: module for module in (messages, chat, responses)}


def _find_wire(path: str) -> tuple[ServerWire, Object] | None:
    """The protocol of a path, and what the path itself says about the request."""
    if path in _WIRES:
        return _WIRES[path], {}
    said = gemini.read_address(path)
    return None if said is None else (gemini, said)


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the server got it."""

    path: str
    headers: Mapping[str, str]
    body: Object


class ModelServer:
    """Plays a script over HTTP: `async with ModelServer(script) as server: server.url`."""

    def __init__(
        self,
        script: Sequence[Reply | Mapping[str, Any]],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        api_key: str | None = None,
        when_done: WhenDone = "close",
        closing: str = CLOSING,
        per_conversation: bool = False,
    ) -> None:
        self.requests: list[Received] = []
        self.disconnects = 0
        self._playback = Playback(replies_of(script), when_done)
        self._closing = Reply(text=closing)
        self._host = host
        self._port = port
        self._api_key = api_key
        self._per_conversation = per_conversation
        self._numbers = count(1)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """The address for Anthropic clients."""
        return f"http://{self._host}:{self._port}"

    @property
    def openai_url(self) -> str:
        """The address for OpenAI clients, which want the version in it."""
        return f"{self.url}/v1"

    async def start(self) -> None:
        """Begin to listen; port 0 means any free one."""
        self._server = await asyncio.start_server(self._serve, self._host, self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def serve_forever(self) -> None:
        """Serve until cancelled."""
        if self._server is None:
            await self.start()
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Stop listening, and drop open connections."""
        if self._server is None:
            return
        self._server.close()
        for task in tuple(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._read_and_answer(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            # The other side left, or the server is closing; either way nobody is listening.
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _read_and_answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        response = HttpResponse(writer)
        try:
            request = await read_request(reader)
        except BadRequest as bad:
            await response.send_json(bad.status, {"error": {"message": str(bad)}})
            return
        if request is not None:
            answering = asyncio.create_task(self._answer(request, response))
            await self._wait_while_connected(answering, reader)

    async def _wait_while_connected(
        self, answering: asyncio.Task[None], reader: asyncio.StreamReader
    ) -> None:
        """Answer, but stop as soon as the other side has left."""
        gone = asyncio.create_task(reader.read(1))
        both: set[asyncio.Task[Any]] = {answering, gone}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.disconnects += 1
        finally:
            for task in both:
                task.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await gone
        with suppress(asyncio.CancelledError):
            await answering

    async def _answer(self, request: HttpRequest, response: HttpResponse) -> None:
        found = _find_wire(request.path)
        if found is None or request.method != "POST":
            await _send_not_found(request, response)
            return
        wire, said_in_address = found
        body = parse_body(request.body)
        self.requests.append(Received(request.path, request.headers, body))
        body = body | said_in_address
        answer = self._choose_answer(wire, request, body)
        if isinstance(answer, Failure):
            await _send_failure(wire, answer, response, body)
        else:
            await _send_reply(wire, Exchange(answer, next(self._numbers), body), response)

    def _choose_answer(
        self, wire: ServerWire, request: HttpRequest, body: Object
    ) -> Reply | Failure:
        if self._api_key is not None and self._api_key not in _read_keys(request):
            return Failure(type="authentication", message="invalid x-api-key")
        try:
            problem = wire.find_problem(body) or self._find_surprise(wire, body)
        except Malformed as failure:
            problem = f"The request is malformed: {failure}"
        if problem is not None:
            return Failure(type="invalid_request", message=problem)
        return self._playback.pop() or self._close()

    def _find_surprise(self, wire: ServerWire, body: Object) -> str | None:
        """What the script did not expect in a valid request; None if it did."""
        if self._per_conversation:
            self._playback.position = min(wire.count_replies(body), len(self._playback.replies))
        return self._playback.find_surprise(wire.read_last_words(body))

    def _close(self) -> Reply | Failure:
        if self._playback.when_done == "raise":
            return Failure(type="invalid_request", message="All replies of the script were played")
        return self._closing


def _read_keys(request: HttpRequest) -> set[str]:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    return {request.headers.get(name, "") for name in ("x-api-key", "x-goog-api-key")} | {bearer}


async def _send_not_found(request: HttpRequest, response: HttpResponse) -> None:
    where = f"{request.method} {request.path}"
    message = (
        f"There is no {where}; have {', '.join(f'POST {path}' for path in (*_WIRES, gemini.PATH))}"
    )
    error = {"message": message, "type": "not_found_error"}
    await response.send_json(404, {"type": "error", "error": error})


async def _send_failure(
    wire: ServerWire, failure: Failure, response: HttpResponse, body: Object
) -> None:
    if failure.type == "connection":
        response.abort()
    elif failure.type == "timeout":
        await asyncio.Event().wait()  # until the other side has had enough
    elif failure.after is not None and body.get("stream"):
        await response.start_events()
        begun = list(wire.write_events(Exchange(_BROKEN_OFF, 0, body)))[: failure.after]
        for frame in [*begun, wire.write_error_event(failure)]:
            await response.send_event(frame)
        await response.end_events()
    else:
        status, error = wire.write_error(failure)
        await response.send_json(status, error, _write_retry_headers(failure))


def _write_retry_headers(failure: Failure) -> dict[str, str]:
    wait = failure.retry_after
    if wait is None:
        return {}
    return {"Retry-After": str(math.ceil(wait)), "Retry-After-Ms": str(round(wait * 1000))}


async def _send_reply(wire: ServerWire, exchange: Exchange, response: HttpResponse) -> None:
    reply = exchange.reply
    if reply.delay:
        await asyncio.sleep(reply.delay)
    if not exchange.body.get("stream"):
        cut = reply.break_after is not None
        await response.send_json(200, wire.write_reply(exchange), cut=cut)
        return
    await response.start_events()
    for number, frame in enumerate(wire.write_events(exchange)):
        if number == reply.break_after:
            response.abort()
            return
        if reply.pause:
            await asyncio.sleep(reply.pause)
        await response.send_event(frame)
    await response.end_events()
