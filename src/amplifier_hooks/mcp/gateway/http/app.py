"""The endpoint at /mcp for clients that connect by streamable HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.guards.mcp.frames import Frame, FrameError, read_frames
from amplifier_hooks.http_guard import (
    Head,
    Headers,
    Receive,
    Refusal,
    Scope,
    Send,
    bracket,
    read_head,
)
from amplifier_hooks.machine.open_files import raise_file_limit, share_of_files
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.clients import (
    CANCELLED,
    ClientSession,
    Hub,
    Reply,
    Serve,
    SharedClients,
)
from amplifier_hooks.mcp.gateway.http.guard import (
    PATH,
    GatewayGuard,
    ListenSettings,
    MessageRefusal,
    list_permissions,
    make_door,
)
from amplifier_hooks.mcp.gateway.http.wire_format import (
    HEADER_MISMATCH,
    KIND,
    PING,
    SESSION,
    VERSION,
    decode_value,
    read_version,
    write_event,
)
from amplifier_hooks.modules.installation import require

SOON = 1.0
PING_SECONDS = 15.0
SLOW_SECONDS = 60.0
"""A client that reads nothing for so long has gone."""

_STATUS = {-32601: 404, -32700: 400, -32600: 400, -32020: 400, -32021: 400, -32022: 400}
"""Of errors without a session, as the protocol wants them since 2026-07-28."""


class Answer:
    """One HTTP answer on its way."""

    def __init__(
        self,
        reply: Reply,
        send: Send,
        headers: Mapping[str, str],
        *,
        accepts_json: bool,
        modern: bool,
    ) -> None:
        self._reply = reply
        self._send = send
        self._headers = headers
        self._accepts_json = accepts_json
        self._modern = modern

    async def write(self, receive: Receive) -> bool:
        """Whether all of it was written; False if the client left before."""
        writing = asyncio.create_task(self._write())
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return writing.done() and writing.result()
        finally:
            await cancel_and_wait(leaving)
            await cancel_and_wait(writing)

    async def _write(self) -> bool:
        try:
            if self._accepts_json and await self._write_json():
                return True
            await self._write_events()
        except TimeoutError:
            return False
        return not self._reply.is_overrun

    async def _write_json(self) -> bool:
        """Whether it was one answer that came soon, or the client takes nothing else."""
        reply = self._reply
        if reply.accepts_events:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SOON):
                    await reply.wait()
            if not reply.is_lone_answer:
                return False
        await reply.wait_for_end()
        messages = list(iter(reply.pop, None))
        if not messages:  # there was too much of it
            raise TimeoutError
        body = messages[0] if len(messages) == 1 else b"[" + b",".join(messages) + b"]"
        status = _find_status(body) if self._modern and len(messages) == 1 else 200
        await self._begin(status, "application/json", {"content-length": str(len(body))})
        await self._send_body(body, more=False)
        return True

    async def _write_events(self) -> None:
        more = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
        await self._begin(200, KIND, more)
        await self._send_body(PING)
        while not self._reply.is_drained:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_SECONDS):
                    await self._reply.wait()
            raw = self._reply.pop()
            await self._send_body(PING if raw is None else write_event(raw))
        await self._send_body(b"", more=False)

    async def _begin(self, status: int, kind: str, more: Mapping[str, str]) -> None:
        headers = {"content-type": kind, "cache-control": "no-store", **more, **self._headers}
        encoded = [
            (key.lower().encode(), value.encode("latin-1")) for key, value in headers.items()
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def _send_body(self, body: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(SLOW_SECONDS):
            await self._send({"type": "http.response.body", "body": body, "more_body": more})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _find_status(body: bytes) -> int:
    error = json.loads(body).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return _STATUS.get(code, 200) if isinstance(code, int) else 200


INITIALIZE = "initialize"
JSON = "application/json"
FIRST_MODERN = "2026-07-28"


@dataclass(slots=True)
class GatewayApp:
    """An ASGI application, behind `GatewayGuard`."""

    hub: Hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        head = read_head(scope)
        if head.method == "POST":
            await self._post(head, receive, send)
        elif head.method == "GET":
            await self._get(head, receive, send)
        elif head.method == "DELETE":
            await self._delete(head, send)
        else:
            await _answer(send, 204, list_permissions(head))

    async def _post(self, head: Head, receive: Receive, send: Send) -> None:
        if not (head.accepts(JSON) or head.accepts(KIND)):
            raise Refusal(406, f"Answers are {JSON} or {KIND}; accept both.")
        body = (await receive())["body"]  # the guard has read all of it
        try:
            frames = read_frames(body)
        except FrameError as error:
            raise MessageRefusal(400, str(error), error.code, error.id) from None
        if _is_modern(head, frames):
            await self._handle_modern(head, frames[0], receive, send)
        else:
            await self._handle_session(head, frames, receive, send)

    async def _handle_session(
        self, head: Head, frames: Sequence[Frame], receive: Receive, send: Send
    ) -> None:
        """Messages of a session."""
        authorization = head.get("authorization") or ""
        if frames[0].method == INITIALIZE and frames[0].is_request:
            if len(frames) > 1 or head.get(SESSION) is not None:
                raise Refusal(400, "initialize comes alone, and without Mcp-Session-Id.")
            session = self.hub.begin_session(authorization)
        else:
            session = self.hub.find_session(head.get(SESSION), authorization)
        reply = await session.submit(frames, accepts_events=head.accepts(KIND))
        if not reply.open:
            await _answer(send, 202)
            return
        answer = Answer(
            reply, send, {SESSION: session.id}, accepts_json=head.accepts(JSON), modern=False
        )
        await _write_or_cancel(answer, receive, session, reply)

    async def _handle_modern(self, head: Head, frame: Frame, receive: Receive, send: Send) -> None:
        """A message that stands by itself."""
        if frame.method == CANCELLED:
            raise Refusal(400, "Without a session, a request is cancelled by closing its stream.")
        if frame.is_request and read_version(frame) is None:
            why = f"{VERSION} says {head.get(VERSION)!r:.40}, but the message states no version"
            raise MessageRefusal(400, why, HEADER_MISMATCH, frame.message["id"])
        shared = self.hub.get_shared(head.get("authorization") or "")
        if frame.is_request:
            _check_mirrored(head, frame, shared.list_headers(frame))
        reply = await shared.submit(frame, accepts_events=head.accepts(KIND))
        if not reply.open:
            await _answer(send, 202)
            return
        answer = Answer(reply, send, {}, accepts_json=head.accepts(JSON), modern=True)
        await _write_or_cancel(answer, receive, shared, reply)

    async def _get(self, head: Head, receive: Receive, send: Send) -> None:
        if head.get(SESSION) is None:
            raise Refusal(405, "There is a stream for sessions only; send requests with POST.")
        session = self.hub.find_session(head.get(SESSION), head.get("authorization") or "")
        if not head.accepts(KIND):
            raise Refusal(406, f"The stream is {KIND}; accept that.")
        reply = session.open_stream()
        answer = Answer(reply, send, {SESSION: session.id}, accepts_json=False, modern=False)
        try:
            await answer.write(receive)
        finally:
            reply.end()

    async def _delete(self, head: Head, send: Send) -> None:
        session = self.hub.find_session(head.get(SESSION), head.get("authorization") or "")
        self.hub.end_session(session)
        await _answer(send, 204)


async def _write_or_cancel(
    answer: Answer, receive: Receive, client: ClientSession | SharedClients, reply: Reply
) -> None:
    """Write a reply; what was asked for is cancelled if that does not work."""
    is_written = False
    try:
        is_written = await answer.write(receive)
    finally:
        if not is_written:
            await client.cancel(reply)


def _is_modern(head: Head, frames: Sequence[Frame]) -> bool:
    if len(frames) > 1:
        return False
    stated = head.get(VERSION) or ""
    return read_version(frames[0]) is not None or stated >= FIRST_MODERN


def _check_mirrored(head: Head, frame: Frame, expected: Mapping[str, str]) -> None:
    """The headers say what the message says, so that nobody on the way can be misled."""
    for name, value in expected.items():
        found = head.get(name)
        if found is None or decode_value(found) != decode_value(value):
            why = f"The header {name} is missing or says something else than the message"
            raise MessageRefusal(400, why, HEADER_MISMATCH, frame.message["id"])


async def _answer(send: Send, status: int, headers: Headers | None = None) -> None:
    """Answer without a body."""
    named = [*(headers or []), *([] if status == 204 else [(b"content-length", b"0")])]
    await send({"type": "http.response.start", "status": status, "headers": named})
    await send({"type": "http.response.body", "body": b""})


_MOST_CONNECTIONS = 4096
_GRACE_SECONDS = 5.0
_SWEEP_SECONDS = 15.0

Ready = Callable[[str], None]
"""Gets the address under which clients connect."""


async def listen(settings: ListenSettings, serve: Serve, *, ready: Ready | None = None) -> None:
    """Run until cancelled: `serve` is called for each client that connects.

    A client with a session has a relay of its own; those without share one. ChannelError if
    nothing can listen there.
    """
    require("uvicorn", "The gateway's --listen", "mcp")
    from amplifier_hooks.http_guard.server import CannotListen, GuardedConfig, Listener, bind

    try:
        listening = bind(settings.host, settings.port)
    except CannotListen as error:
        raise ChannelError(str(error)) from error
    with contextlib.closing(listening):
        settings = replace(settings, port=listening.getsockname()[1])
        raise_file_limit(3 * _MOST_CONNECTIONS)
        hub = Hub(settings, serve)
        guard = GatewayGuard(GatewayApp(hub), make_door(settings))
        most = share_of_files(2, _MOST_CONNECTIONS)
        listener = Listener(GuardedConfig(guard, most_connections=most))
        sweeping = asyncio.create_task(_sweep(hub))
        try:
            await listener.start(listening)
            if ready is not None:
                ready(f"http://{bracket(settings.host)}:{settings.port}{PATH}")
            await asyncio.Event().wait()
        finally:
            await cancel_and_wait(sweeping)
            await hub.close()
            listener.close()
            await listener.finish(_GRACE_SECONDS)


async def _sweep(hub: Hub) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        hub.end_idle()
