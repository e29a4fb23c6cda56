"""The model server: reads a request, looks into the script, answers in the request's protocol."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, Self

from amplifier_foundation.model_server import chat, messages, responses
from amplifier_foundation.model_server.http import Answer, BadRequest, HttpRequest, read_request
from amplifier_foundation.model_server.pieces import Turn
from amplifier_foundation.providers.script import (
    CLOSING,
    Failure,
    Playback,
    Reply,
    WhenDone,
    replies_of,
)

_BROKEN_OFF = Reply(text="This reply will break off with an error in the middle of it.")


class Wire(Protocol):
    """A wire protocol, seen from the server."""

    def error(self, failure: Failure) -> tuple[int, dict[str, Any]]: ...
    def error_event(self, failure: Failure) -> bytes: ...
    def complaint(self, body: dict[str, Any]) -> str | None: ...
    def said_last(self, body: dict[str, Any]) -> str: ...
    def turns(self, body: dict[str, Any]) -> int: ...
    def whole(self, turn: Turn) -> dict[str, Any]: ...
    def events(self, turn: Turn) -> Iterator[bytes]: ...


# The SDK of OpenAI puts /v1 into its base URL, the one of Anthropic into its paths.
_WIRES: dict[str, Wire] = {module.PATH: module for module in (messages, chat, responses)}


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the server got it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


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
        self._host, self._port, self._api_key = host, port, api_key
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
        """Go on until cancelled."""
        if self._server is None:
            await self.start()
        await asyncio.Event().wait()

    async def close(self) -> None:
        """Stop listening and drop what is under way."""
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
        if task is not None:
            self._open.add(task)
        try:
            await self._converse(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            # The other side left, or the server is closing; either way nobody is listening.
            pass
        finally:
            self._open.discard(task) if task is not None else None
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = Answer(writer)
        try:
            request = await read_request(reader)
            if request is None:
                return
            answering = asyncio.create_task(self._answer(request, answer))
        except BadRequest as bad:
            await answer.send_json(bad.status, {"error": {"message": str(bad)}})
            return
        await self._while_connected(answering, reader)

    async def _while_connected(
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

    async def _answer(self, request: HttpRequest, answer: Answer) -> None:
        wire = _WIRES.get(request.path)
        if wire is None or request.method != "POST":
            where = f"{request.method} {request.path}"
            have = [f"POST {path}" for path in _WIRES]
            said = {"message": f"There is no {where}; have {have}", "type": "not_found_error"}
            await answer.send_json(404, {"type": "error", "error": said})
            return
        body = _body(request)
        self.requests.append(Received(request.path, request.headers, body))
        happening = self._happening(wire, request, body)
        if isinstance(happening, Failure):
            await _fail(wire, happening, answer, body)
        else:
            await _play(wire, Turn(happening, next(self._numbers), body), answer)

    def _happening(self, wire: Wire, request: HttpRequest, body: dict[str, Any]) -> Reply | Failure:
        if self._api_key is not None and self._api_key not in _keys(request):
            return Failure(type="authentication", message="invalid x-api-key")
        complaint = _complaint(wire, body)
        if complaint is not None:
            return Failure(type="invalid_request", message=complaint)
        if self._per_conversation:
            self._playback.position = min(wire.turns(body), len(self._playback.replies))
        surprise = self._playback.unexpected(wire.said_last(body))
        if surprise is not None:
            return Failure(type="invalid_request", message=surprise)
        return self._playback.take() or self._at_the_end()

    def _at_the_end(self) -> Reply | Failure:
        if self._playback.when_done == "raise":
            return Failure(type="invalid_request", message="All replies of the script were played")
        return self._closing


def _body(request: HttpRequest) -> dict[str, Any]:
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def _complaint(wire: Wire, body: dict[str, Any]) -> str | None:
    try:
        return wire.complaint(body)
    except (AttributeError, KeyError, TypeError) as failure:
        return f"The request is malformed: {type(failure).__name__} {failure}"


def _keys(request: HttpRequest) -> set[str]:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    return {request.headers.get("x-api-key", ""), bearer}


async def _fail(wire: Wire, failure: Failure, answer: Answer, body: dict[str, Any]) -> None:
    if failure.type == "connection":
        answer.abort()
    elif failure.type == "timeout":
        await asyncio.Event().wait()  # until the other side has had enough
    elif failure.after is not None and body.get("stream"):
        await answer.start_events()
        begun = list(wire.events(Turn(_BROKEN_OFF, 0, body)))[: failure.after]
        for frame in [*begun, wire.error_event(failure)]:
            await answer.send_event(frame)
        await answer.end_events()
    else:
        status, said = wire.error(failure)
        await answer.send_json(status, said, _retry_headers(failure))


def _retry_headers(failure: Failure) -> dict[str, str]:
    wait = failure.retry_after
    if wait is None:
        return {}
    return {"Retry-After": str(math.ceil(wait)), "Retry-After-Ms": str(round(wait * 1000))}


async def _play(wire: Wire, turn: Turn, answer: Answer) -> None:
    reply = turn.reply
    if reply.delay:
        await asyncio.sleep(reply.delay)
    if not turn.body.get("stream"):
        await answer.send_json(200, wire.whole(turn), cut=reply.break_after is not None)
        return
    await answer.start_events()
    for number, frame in enumerate(wire.events(turn)):
        if number == reply.break_after:
            answer.abort()
            return
        if reply.pause:
            await asyncio.sleep(reply.pause)
        await answer.send_event(frame)
    await answer.end_events()
