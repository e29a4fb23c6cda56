"""The endpoint at /mcp: what a client sends, to the relay; what the relay has for it, back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amplifier_hooks.guards.mcp.frames import Frame, FrameError, read_frames
from amplifier_hooks.http_guard import Head, Headers, Receive, Refusal, Scope, Send, read_head
from amplifier_hooks.mcp.gateway.http.incoming.answering import Answer
from amplifier_hooks.mcp.gateway.http.incoming.client_session import CANCELLED, ClientSession
from amplifier_hooks.mcp.gateway.http.incoming.guard import MessageRefusal, list_permissions
from amplifier_hooks.mcp.gateway.http.incoming.hub import Hub
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply
from amplifier_hooks.mcp.gateway.http.incoming.shared_clients import SharedClients
from amplifier_hooks.mcp.gateway.http.mirrored_headers import (
    HEADER_MISMATCH,
    SESSION,
    VERSION,
    decode_value,
    read_version,
)
from amplifier_hooks.mcp.gateway.http.sse import KIND

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
            await self._take_modern(head, frames[0], receive, send)
        else:
            await self._take(head, frames, receive, send)

    async def _take(
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
        reply = await session.take(frames, takes_events=head.accepts(KIND))
        if not reply.open:
            await _answer(send, 202)
            return
        answer = Answer(
            reply, send, {SESSION: session.id}, takes_json=head.accepts(JSON), modern=False
        )
        await _write_or_leave(answer, receive, session, reply)

    async def _take_modern(self, head: Head, frame: Frame, receive: Receive, send: Send) -> None:
        """A message that stands by itself."""
        if frame.method == CANCELLED:
            raise Refusal(400, "Without a session, a request is cancelled by closing its stream.")
        if frame.is_request and read_version(frame) is None:
            why = f"{VERSION} says {head.get(VERSION)!r:.40}, but the message states no version"
            raise MessageRefusal(400, why, HEADER_MISMATCH, frame.message["id"])
        shared = self.hub.get_shared(head.get("authorization") or "")
        if frame.is_request:
            _check_mirrored(head, frame, shared.list_headers(frame))
        reply = await shared.take(frame, takes_events=head.accepts(KIND))
        if not reply.open:
            await _answer(send, 202)
            return
        answer = Answer(reply, send, {}, takes_json=head.accepts(JSON), modern=True)
        await _write_or_leave(answer, receive, shared, reply)

    async def _get(self, head: Head, receive: Receive, send: Send) -> None:
        if head.get(SESSION) is None:
            raise Refusal(405, "There is a stream for sessions only; send requests with POST.")
        session = self.hub.find_session(head.get(SESSION), head.get("authorization") or "")
        if not head.accepts(KIND):
            raise Refusal(406, f"The stream is {KIND}; accept that.")
        reply = session.follow()
        answer = Answer(reply, send, {SESSION: session.id}, takes_json=False, modern=False)
        try:
            await answer.write(receive)
        finally:
            reply.end()

    async def _delete(self, head: Head, send: Send) -> None:
        session = self.hub.find_session(head.get(SESSION), head.get("authorization") or "")
        self.hub.end_session(session)
        await _answer(send, 204)


async def _write_or_leave(
    answer: Answer, receive: Receive, client: ClientSession | SharedClients, reply: Reply
) -> None:
    """Write a reply; what was asked for is cancelled if that does not work."""
    is_written = False
    try:
        is_written = await answer.write(receive)
    finally:
        if not is_written:
            await client.leave(reply)


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
